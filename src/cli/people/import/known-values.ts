import { SecretSet } from '../../../base/masking/secret-set.ts';
import { isMasked } from '../../../controllers/content/variables.ts';
import type { AnyRecord, VariableRecord } from '../../../service/index.ts';

/** A shorter Password is a word that may stand anywhere. */
const SHORTEST = 8;
/** A text is looked through in parts that overlap: a mask takes no longer one. */
const PART = 8_000;
const OVERLAP = 1_000;

/**
 * The values that no file of an import may have: the credentials of the Connection, and every Password that a record
 * shows. A service, or a person years ago, may have put them into any field.
 */
export class KnownValues {
  readonly #secrets: SecretSet;

  /** `secrets`: what the client of the service has to hide. */
  constructor(secrets: SecretSet = new SecretSet()) {
    this.#secrets = secrets;
  }

  /** Notes the Passwords of records. */
  note(records: readonly (AnyRecord & { variables?: readonly VariableRecord[] })[]): void {
    for (const { type, value } of records.flatMap(({ variables = [] }) => variables)) {
      if (type !== 'Password' || typeof value !== 'string' || isMasked(value)) continue;
      if (value.length >= SHORTEST) this.#secrets.note(value);
    }
  }

  /** A text for people without these values. */
  mask(text: string): string {
    return this.#secrets.mask(text);
  }

  /** Whether one of them stands anywhere in a value. */
  standIn(value: unknown): boolean {
    if (typeof value === 'string') return this.#standInText(value);
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(value).some(([key, member]) => this.standIn(key) || this.standIn(member));
  }

  #standInText(text: string): boolean {
    for (let at = 0; at < Math.max(1, text.length); at += PART - OVERLAP) {
      const part = text.slice(at, at + PART);
      if (this.#secrets.mask(part, false) !== part) return true;
    }
    return false;
  }
}
