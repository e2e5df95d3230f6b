import { kindOf, type KindName } from '../../../api/kinds.ts';
import { ANNOTATIONS, API_VERSION } from '../../../api/names.ts';
import { printable } from '../../terminal.ts';
import type { KnownValues } from './known-values.ts';

/** A key of a Secret that a person fills in. */
export interface SecretToFill {
  secret: string;
  key: string;
  /** What it is, such as `variable DB_PASSWORD`. */
  what: string;
}

type Fields = Record<string, unknown>;

/** What the API server fills in, and a manifest does not have. */
const STORED = { uid: '-', resourceVersion: '-', generation: 1, creationTimestamp: '2000-01-01T00:00:00Z' };

/**
 * A manifest that is drawn bit by bit from a record: a part that the schema does not take is left out, and said.
 */
export class Sketch {
  readonly kind: KindName;
  readonly name: string;
  readonly id: string;
  /** What the record has and the manifest does not say, a sentence each. */
  readonly remarks: string[] = [];
  readonly secrets: SecretToFill[] = [];
  /** It declares files: adopted as it is, they would be uploaded anew. */
  hasFiles = false;
  /** Ids of the boxes that its variables nest. */
  readonly nests: string[] = [];
  readonly #problem: string | undefined;
  readonly #values: KnownValues;
  #spec: Fields;

  /** `spec`: what a manifest of this kind cannot do without; `values`: what may stand in none. */
  constructor(
    kind: KindName,
    { name, id, values }: { name: string; id: string; values: KnownValues },
    spec: Fields,
  ) {
    this.#values = values;
    this.kind = kind;
    this.name = name;
    this.id = id;
    this.#spec = spec;
    this.#problem = this.#problemOf(spec, spec);
  }

  /** Why no manifest comes of it; undefined where one does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Sets a field, where the schema takes the value. */
  set(field: string, value: unknown): boolean {
    return this.#take({ ...this.#spec, [field]: value }, value, `spec.${field}`);
  }

  /** Adds an entry to a list or a map of the spec. */
  add(field: string, entry: { key: string; value: unknown; to: 'list' | 'map' }): boolean {
    const { key, value, to } = entry;
    const before = this.#spec[field];
    const next =
      to === 'list'
        ? [...((before as unknown[] | undefined) ?? []), value]
        : { ...(before as Fields | undefined), [key]: value };
    return this.#take({ ...this.#spec, [field]: next }, [key, value], `spec.${field}: ${key}`);
  }

  /** Says that something is not declared. */
  remark(text: string): void {
    this.remarks.push(printable(this.#values.mask(text)));
  }

  /** The manifest. */
  manifest(): Fields {
    return {
      apiVersion: API_VERSION,
      kind: this.kind,
      metadata: { name: this.name, annotations: { [ANNOTATIONS.adopt]: this.id } },
      spec: { ...inOrder(this.#spec), ...this.#spec },
    };
  }

  #take(spec: Fields, added: unknown, what: string): boolean {
    const problem = this.#problemOf(spec, added);
    if (problem === undefined) this.#spec = spec;
    else this.remark(`${what} is not declared, and stays as it is on the service: ${problem}`);
    return problem === undefined;
  }

  /** `added`: what of it nobody has looked at yet. */
  #problemOf(spec: Fields, added: unknown): string | undefined {
    if (!isText(spec)) return 'the service has characters there that are no Unicode text';
    if (this.#values.standIn(added))
      return 'the value of a Password, or of the credentials of the Connection, stands in it';
    const metadata = { ...STORED, name: this.name, namespace: '-' };
    const parsed = kindOf(this.kind).parse({ apiVersion: API_VERSION, kind: this.kind, metadata, spec });
    return parsed.ok ? undefined : parsed.problems.map(({ message }) => message).join('; ');
  }
}

/** What concerns the resource as a whole comes first. */
const FIRST = ['connectionRef', 'owner', 'managementPolicy', 'driftPolicy', 'deletionPolicy', 'name'];

function inOrder(spec: Fields): Fields {
  return Object.fromEntries(FIRST.flatMap((field) => (field in spec ? [[field, spec[field]]] : [])));
}

/** Whether every text in a value can be written down. */
function isText(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isText(member));
}
