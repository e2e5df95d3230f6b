/**
 * Who is waiting: a person who has edited something that was in place; a person who has made or deleted something;
 * the cluster or the service, such as the end of a running operation; or nobody (a periodic look).
 */
export type Lane = 'edit' | 'user' | 'normal' | 'periodic';

/** All lanes, the most urgent first. */
export const LANES: readonly Lane[] = ['edit', 'user', 'normal', 'periodic'];

/** The more urgent of two. */
export function moreUrgent(a: Lane, b: Lane): Lane {
  return LANES.indexOf(a) <= LANES.indexOf(b) ? a : b;
}

/** The lane after this one; the last one stays. */
export function lessUrgent(lane: Lane): Lane {
  return LANES[LANES.indexOf(lane) + 1] ?? 'periodic';
}

/** Whether a person has changed something. */
export function isOfPerson(lane: Lane): boolean {
  return lane === 'edit' || lane === 'user';
}

/**
 * How urgent some work is, and whether it waits: one for each piece of work, which carries it from line to line.
 * When it becomes more urgent on its way, it moves up in the line in which it stands. The time that it waits for its
 * turn is not its own: whoever limits the work leaves that time out.
 */
export class Priority {
  readonly #listeners = new Set<() => void>();
  #lane: Lane;
  #lines = 0;

  constructor(lane: Lane = 'normal') {
    this.#lane = lane;
  }

  get lane(): Lane {
    return this.#lane;
  }

  /** Whether it stands in a line. */
  get waits(): boolean {
    return this.#lines > 0;
  }

  /** Makes it at least as urgent as `lane`. */
  raise(lane: Lane): void {
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
