import type { TSchema } from 'typebox';
import type { Caller, Service } from '../service.ts';
import type { BoxDoc, InstanceDoc, ProviderDoc, WorkspaceDoc } from '../model.ts';
import { badRequest } from '../http.ts';
import type { Validation } from './validate.ts';
import type { TableView } from '../store/table.ts';

/** The tables as list endpoints see them: live, or trailing behind when a fault says so. */
export interface Listing {
  readonly boxes: TableView<BoxDoc>;
  readonly instances: TableView<InstanceDoc>;
  readonly providers: TableView<ProviderDoc>;
  readonly workspaces: TableView<WorkspaceDoc>;
}

/** One call after the edge has let it in. */
export interface Call {
  service: Service;
  caller: Caller;
  /** Path parameters by name, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The validated JSON body, undefined where the route has none. */
  body: unknown;
  raw: Uint8Array;
  headers: Readonly<Record<string, string>>;
  listing: Listing;
  validation: Validation;
}

/** What a handler gives back; the edge makes an answer of it. */
export type Outcome =
  | { kind: 'json'; value: unknown; status?: number; headers?: Record<string, string> }
  /** JSON text made earlier. */
  | { kind: 'text'; text: string; type?: string; status?: number; headers?: Record<string, string> }
  /** JSON texts, made one by one while the list is sent; `count` is how many there are. */
  | { kind: 'list'; items: Iterable<string>; count: number }
  | { kind: 'bytes'; bytes: Uint8Array; type: string; headers?: Record<string, string> }
  | { kind: 'none'; status?: number; headers?: Record<string, string> };

/** One row of the interface: a method and a path with what it takes and answers. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for a path parameter. */
  path: string;
  summary: string;
  success: number;
  /** Codes that the interface document names for this row; the common ones come on top. */
  errors: readonly number[];
  /** Needs no token. */
  open?: true;
  /** JSON body, or `bytes` where the body is not JSON. */
  body?: TSchema | 'bytes';
  /** No body at all means an empty object. */
  bodyOptional?: true;
  /**
   * The bodies that the route takes, for the description; each is stricter than `body`. `{schema_base}` stands
   * for the start of schema identifiers.
   */
  variants?: readonly TSchema[];
  /** Schema of the successful answer, where it is JSON. */
  answer?: TSchema;
  /** Success codes of other readings. */
  alsoSuccess?: readonly number[];
  /** Members of the body beyond those of the schemas, by type of record. */
  moreFields?: readonly string[];
  /** Content type of the successful answer, where it is not JSON of a schema. */
  text?: string;
  /** Names of the query parameters that mean something. */
  query?: readonly string[];
  handler: (call: Call) => Outcome;
}

/** A list of records, whose texts are made while it is sent: records are values, so it is of one moment. */
export function listOf<T>(records: readonly T[], text: (record: T) => string): Outcome {
  return { kind: 'list', items: texts(records, text), count: records.length };
}

function* texts<T>(records: readonly T[], text: (record: T) => string): Generator<string> {
  for (const record of records) yield text(record);
}

/** A path parameter that the route is known to have. */
export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}

/** The ids of an `ids` query (trailing comma tolerated), undefined when there is none. */
export function idsOf(call: Call): Set<string> | undefined {
  const ids = call.query.get('ids');
  if (ids === null) return undefined;
  return new Set(
    ids
      .split(',')
      .map((id) => id.trim())
      .filter((id) => id !== ''),
  );
}

/** A body that names another record than its path was meant for that one. @throws Refusal 400 */
export function checkSameRecord(call: Call, id: string): void {
  const { id: given } = (call.body ?? {}) as { id?: unknown };
  if (given !== undefined && given !== null && given !== id) {
    throw badRequest(`id: ${JSON.stringify(given).slice(0, 100)} is not the "${id}" of the path`);
  }
}
