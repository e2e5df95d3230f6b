/**
 * What waits: an edit of something that was in place; what is begun, such as the end of a running operation; something
 * new, of which nothing is begun; or a periodic look.
 */
export type Lane = 'edit' | 'normal' | 'new' | 'periodic';

/** All lanes, the most urgent first: what is begun goes ahead of what is not, or thousands stay half made. */
export const LANES: readonly Lane[] = ['edit', 'normal', 'new', 'periodic'];

/** The more urgent of two. */
export function moreUrgent(a: Lane, b: Lane): Lane {
  return LANES.indexOf(a) <= LANES.indexOf(b) ? a : b;
}

/** Whether a lane is for what a person has just made or changed only. */
export function isOfPerson(lane: Lane): boolean {
  return lane === 'edit' || lane === 'new';
}

/**
 * How urgent some work is, and whether it waits: one for each piece of work, which carries it from line to line.
 * When it becomes more urgent on its way, it moves up in the line in which it stands. The time that it waits for its
 * turn is not its own: whoever limits the work leaves that time out.
 */
export class Priority {
  readonly #listeners = new Set<() => void>();
  #lane: Lane;
  #byPerson: boolean;
  #lines = 0;

  /** @param byPerson - whether a person has made or changed something; always so in the lanes for that */
  constructor(lane: Lane = 'normal', byPerson = false) {
    this.#lane = lane;
    this.#byPerson = byPerson || isOfPerson(lane);
  }

  get lane(): Lane {
    return this.#lane;
  }

  /** Whether it is for what a person has just made or changed. */
  get byPerson(): boolean {
    return this.#byPerson;
  }

  /** Whether it stands in a line. */
  get waits(): boolean {
    return this.#lines > 0;
  }

  /** Makes it at least as urgent as `lane`; once for a person, always for a person. */
  raise(lane: Lane, byPerson = false): void {
    this.#byPerson ||= byPerson || isOfPerson(lane);
    if (moreUrgent(this.#lane, lane) === this.#lane) return;
    this.#lane = lane;
    this.#tell();
  }

  /** Stands in a line until `turn` settles. */
  async inLine<T>(turn: Promise<T>): Promise<T> {
    this.#lines += 1;
    this.#tell();
    try {
      return await turn;
    } finally {
      this.#lines -= 1;
      this.#tell();
    }
  }

  /** Tells of each change of {@link lane} and {@link waits}; answers how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
