import { SecretSet } from './secret-set.ts';

/** Units of all values of all Connections. */
const MOST_CHARACTERS = 2_097_152;

/**
 * The secret values that this process has read, one set a Connection. Nobody pushes out what belongs to another: where
 * there are too many, the namespace that has most of them forgets its oldest.
 */
export class KnownSecrets {
  readonly #sets = new Map<string, SecretSet>();
  readonly #most: number;

  constructor(mostCharacters: number = MOST_CHARACTERS) {
    this.#most = mostCharacters;
  }

  /** The set of the Connection `namespace/name`. */
  of(connection: string): SecretSet {
    const known = this.#sets.get(connection);
    if (known !== undefined) return known;
    const made = new SecretSet(() => this.#bound());
    this.#sets.set(connection, made);
    return made;
  }

  /** A text that speaks of a Connection, or of what uses it, without the values of its set. */
  mask(connection: string, text: string, isCut?: boolean): string {
    return this.#sets.get(connection)?.mask(text, isCut) ?? text;
  }

  /** The Connection is gone. */
  drop(connection: string): void {
    this.#sets.delete(connection);
  }

  #bound(): void {
    for (;;) {
      const namespaces = new Map<string, number>();
      let all = 0;
      for (const [connection, { characters }] of this.#sets) {
        const [namespace = ''] = connection.split('/');
        namespaces.set(namespace, (namespaces.get(namespace) ?? 0) + characters);
        all += characters;
      }
      if (all <= this.#most) return;
      const [largest] = [...namespaces].toSorted(([, a], [, b]) => b - a);
      const [set] = [...this.#sets]
        .filter(([connection]) => connection.startsWith(`${largest?.[0] ?? ''}/`))
        .map(([, one]) => one)
        .toSorted((a, b) => b.characters - a.characters);
      set?.forgetOldest();
    }
  }
}
