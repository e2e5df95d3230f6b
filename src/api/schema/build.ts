import {
  Type,
  type Static,
  type TArray,
  type TBoolean,
  type TInteger,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnsafe,
} from 'typebox';
import { DURATION_PATTERN } from '../../base/duration.ts';
import { TOKEN_LIMIT } from '../tokens.ts';
import { between, matches, unchanged, type Rule } from './rules.ts';
import { rulesOf } from './structural.ts';

/**
 * The few words in which our kinds are written. Each makes a TypeBox schema with a description and bounds,
 * so that a definition without them does not come about. The converter to a CRD is in `structural.ts`.
 *
 * Marks of ours ride on the schemas: `rules` (become CEL), `reference` (the kind that a `{name}` points to), `names`
 * (the kind whose record a plain id names), and `shown` and `token` (how status is made to fit, see fit.ts). None is a JSON Schema keyword; the converter takes
 * them out.
 */

/** What a reference points to, always in the resource's own namespace. */
export type ReferenceTarget =
  'Connection' | 'Box' | 'PolicyBox' | 'Instance' | 'InstanceLease' | 'Secret' | 'ConfigMap';

/** A schema whose field the API server fills when it is absent. */
export type Defaulted<S extends TSchema> = S & { '~defaulted': true };

/** A schema whose field may be absent for the operator too. */
export type Maybe<S extends TSchema> = S & { '~optional': true };

/** Characters allowed in text unless a field says otherwise. */
const TEXT_LIMIT = 256;

export interface TextOptions {
  minLength?: number;
  maxLength?: number;
  /** RE2-safe. */
  pattern?: string;
  /** Says what to write instead of what does not match the pattern, which the pattern does not say. */
  hint?: string;
  format?: 'date-time';
  rules?: Rule[];
}

/** A string of 1 to 256 characters unless the options say otherwise. */
export function text(description: string, options: TextOptions = {}): TString {
  const { hint, rules = [], ...rest } = options;
  const all = hint === undefined ? rules : [matches(rest.pattern ?? '', hint), ...rules];
  return Type.String({
    description,
    minLength: 1,
    maxLength: TEXT_LIMIT,
    ...rest,
    ...(all.length === 0 ? {} : { rules: all }),
  });
}

/** The id of a record on the service, of a kind of ours or not: {@link findPlainIds} finds it. */
export function plainId(names: ReferenceTarget, description: string, options: TextOptions): TString {
  return Object.assign(text(description, options), { names });
}

/** One of a closed set of CamelCase words. */
export function oneOf<const V extends string>(description: string, values: readonly V[]): TUnsafe<V> {
  return Type.Unsafe<V>({ type: 'string', enum: [...values], description });
}

/** A whole number within bounds. */
export function integer(
  description: string,
  options: { minimum: number; maximum: number; format?: 'int64' },
): TInteger {
  return Type.Integer({ description, ...options });
}

export function flag(description: string): TBoolean {
  return Type.Boolean({ description });
}

/** A Go duration such as `90s` or `8h`, within bounds. */
export function duration(description: string, shortest: string, longest: string): TString {
  return text(description, {
    maxLength: 24,
    pattern: DURATION_PATTERN,
    hint: 'must be a duration, such as 90s or 8h (units: ms, s, m, h)',
    rules: [between(shortest, longest)],
  });
}

/** An RFC 3339 time such as `2026-12-24T18:00:00Z`. */
export function time(description: string): TString {
  return text(description, { format: 'date-time', maxLength: 40 });
}

export interface ListOptions {
  maxItems: number;
  /** Keys of the list map; absent: a set for strings, atomic for objects. */
  mapKeys?: readonly string[];
  /** Replaced as a whole by whoever applies it. */
  atomic?: boolean;
  rules?: Rule[];
}

/** A bounded list with merge semantics for server-side apply. */
export function list<S extends TSchema>(description: string, items: S, options: ListOptions): TArray<S> {
  const { mapKeys, atomic, ...rest } = options;
  const isText = 'type' in items && items.type === 'string';
  return Type.Array(items, {
    description,
    ...rest,
    ...(mapKeys === undefined
      ? { 'x-kubernetes-list-type': isText && atomic !== true ? 'set' : 'atomic' }
      : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...mapKeys] }),
  });
}

/** Named fields. */
export function object<P extends TProperties>(
  description: string,
  properties: P,
  options: { rules?: Rule[]; reference?: ReferenceTarget } = {},
): TObject<P> {
  return Type.Object(properties, { description, ...options });
}

/** JSON of any shape, kept as it is; bounded again when it is parsed. */
export function openObject(description: string, maxProperties: number): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    maxProperties,
    description,
  });
}

/** A field that never changes while it is there; {@link keptAsIs} is for one that may be absent. */
export function fixed<S extends TSchema>(field: string, schema: S, instead: string): S {
  return Object.assign(schema, { rules: [...rulesOf(schema), unchanged(field, instead)] });
}

/** A field that may be absent, and then means what its description says. */
export function optional<S extends TSchema>(schema: S): Maybe<S> {
  return Type.Optional(schema) as unknown as Maybe<S>;
}

/**
 * A field of status that only shows: nothing that is sent to the service is decided by it, each look at the record
 * makes it anew, and it may be cut. Whatever is not marked may decide, a field that is added later included.
 */
export function shown<S extends TSchema>(schema: S): S {
  return Object.assign(schema, { shown: true });
}

/** A request token as status keeps it; see tokens.ts. */
export function token(description: string): TString {
  return Object.assign(text(description, { maxLength: TOKEN_LIMIT }), { token: true });
}

/** A field that the API server fills: never absent for the operator, never demanded of the user. */
export function defaulted<S extends TSchema>(schema: S, value: unknown): Defaulted<S> {
  return Object.assign(schema, { default: value }) as unknown as Defaulted<S>;
}

type Flat<T> = { [K in keyof T]: T[K] } & {};
type LeaveOutKeys<P> = {
  [K in keyof P]: P[K] extends { '~optional': true } | { '~defaulted': true } ? K : never;
}[keyof P];

/** The static type of what the operator sees: every defaulted field is there. */
export type Seen<S extends TSchema> = Static<S>;

/** The static type of what a user writes: optional and defaulted fields may be left out. */
export type Written<S> =
  S extends TUnsafe<infer T>
    ? T
    : S extends TObject<infer P>
      ? Flat<
          { [K in Exclude<keyof P, LeaveOutKeys<P>>]: Written<P[K]> } & {
            [K in LeaveOutKeys<P>]?: Written<P[K]>;
          }
        >
      : S extends TArray<infer I>
        ? Written<I>[]
        : S extends TSchema
          ? Static<S>
          : never;
