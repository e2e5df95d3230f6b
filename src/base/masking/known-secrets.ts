import { Tally } from '../tally.ts';
import { SecretSet } from './secret-set.ts';

/** Units of all values of all Connections. */
const MOST_CHARACTERS = 2_097_152;
/** Where there are too many, so much of them is forgotten at once: looking for what to forget takes its time. */
const FORGOTTEN = 16;

/**
 * The secret values that this process has read, one set a Connection. Nobody pushes out what belongs to another: where
 * there are too many, the namespace that has most of them forgets its oldest.
 */
export class KnownSecrets {
  /** By namespace, then by Connection. */
  readonly #sets = new Map<string, Map<string, SecretSet>>();
  readonly #characters = new Tally();
  readonly #most: number;

  constructor(mostCharacters: number = MOST_CHARACTERS) {
    this.#most = mostCharacters;
  }

  /** The set of the Connection `namespace/name`. */
  of(connection: string): SecretSet {
    const known = this.#find(connection);
    if (known !== undefined) return known;
    const namespace = namespaceOf(connection);
    const made = new SecretSet((characters) => {
      // Whoever uses one that was dropped keeps it to himself.
      if (this.#find(connection) !== made) return;
      this.#characters.add(namespace, characters);
      if (characters > 0 && this.#characters.total > this.#most) this.#forget();
    });
    const sets = this.#sets.get(namespace) ?? new Map<string, SecretSet>();
    this.#sets.set(namespace, sets.set(connection, made));
    return made;
  }

  /** A text that speaks of a Connection, or of what uses it, without the values of its set. */
  mask(connection: string, text: string, isCut?: boolean): string {
    return this.#find(connection)?.mask(text, isCut) ?? text;
  }

  /** The Connection is gone. */
  drop(connection: string): void {
    const namespace = namespaceOf(connection);
    const sets = this.#sets.get(namespace);
    this.#characters.add(namespace, -(sets?.get(connection)?.characters ?? 0));
    sets?.delete(connection);
    if (sets?.size === 0) this.#sets.delete(namespace);
  }

  #find(connection: string): SecretSet | undefined {
    return this.#sets.get(namespaceOf(connection))?.get(connection);
  }

  #forget(): void {
    const shall = this.#most - this.#most / FORGOTTEN;
    while (this.#characters.total > shall) {
      const [largest] = [...this.#sets].reduce((most, one) =>
        this.#characters.of(one[0]) > this.#characters.of(most[0]) ? one : most,
      );
      const sets = [...(this.#sets.get(largest)?.values() ?? [])];
      for (const set of sets.toSorted((a, b) => b.characters - a.characters)) {
        if (this.#characters.total <= shall) break;
        set.forgetOldest();
      }
    }
  }
}

function namespaceOf(connection: string): string {
  return connection.split('/', 1)[0] ?? '';
}
