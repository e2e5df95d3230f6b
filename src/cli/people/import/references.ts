import type { KindName } from '../../../api/kinds.ts';

/** Resources by the id of the record that they stand for. */
export class Known {
  readonly #names = new Map<string, string>();

  /** A resource of this import, or of the cluster. */
  add(kind: KindName, id: string, name: string): void {
    this.#names.set(`${kind} ${id}`, name);
  }

  /** How a manifest refers to a record: by the resource where there is one, else by its id. */
  refer(kind: 'Box' | 'PolicyBox', id: string): Record<string, unknown> {
    const name = this.#names.get(`${kind} ${id}`);
    const field = kind === 'Box' ? 'box' : 'policyBox';
    return name === undefined ? { [`${field}Id`]: id } : { [`${field}Ref`]: { name } };
  }
}
