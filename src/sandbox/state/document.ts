import { MIGRATIONS, TABLES } from '../store/migrations.ts';
import { isServiceTime } from '../time.ts';

/** Thrown when a file holds no state that can be imported. */
export class StateError extends Error {
  readonly code = 'StateUnreadable';

  constructor(message: string) {
    super(message);
    this.name = 'StateError';
  }
}

/** Tokens are nobody's business, and settings are of the sandbox; what was deleted is part of the state. */
const NOT_KEPT = new Set<string>(['tokens', 'settings']);

export type StateTable = Exclude<(typeof TABLES)[number], 'tokens' | 'settings'>;
export const STATE_TABLES = TABLES.filter((name): name is StateTable => !NOT_KEPT.has(name));

/** A stored record. */
export interface StateRecord {
  id: string;
  [member: string]: unknown;
}

/** Everything that a sandbox has stored, as JSON: kept with a bug report, loaded by a test. */
export interface StateDocument {
  format: 'boxwright-sandbox';
  /** Of the tables; a newer one cannot be read. */
  layout: number;
  /** Start of the schema identifiers within profiles; absent where it is not known. */
  schemaBase?: string;
  /** The service's time, milliseconds since the epoch: leases and operations go on from there. */
  now: number;
  /** Records by table, in order. */
  tables: Partial<Record<StateTable, StateRecord[]>>;
  /** Ids of deleted boxes and instances, with the time. */
  gone: Record<string, string>;
  /** Files by the id of their blob, in base64. */
  content: Record<string, string>;
}

/** What a record has at least; without it, it could not be shown. */
const MEMBERS: Readonly<Record<StateTable, Readonly<Record<string, string>>>> = {
  accounts: { email: 'string', workspace: 'string', organization: 'string' },
  organizations: { fields: 'object', created: 'string' },
  workspaces: { kind: 'string', name: 'string', owner: 'string', members: 'array', organizations: 'array' },
  boxes: {
    kind: 'string',
    name: 'string',
    owner: 'string',
    members: 'array',
    variables: 'array',
    fields: 'object',
  },
  revisions: { box: 'object' },
  providers: {
    kind: 'string',
    type: 'string',
    owner: 'string',
    members: 'array',
    services: 'array',
    fields: 'object',
  },
  instances: {
    box: 'string',
    owner: 'string',
    stack: 'array',
    service: 'object',
    operation: 'object',
    variables: 'array',
    policyVariables: 'array',
    tags: 'array',
    bindings: 'array',
    members: 'array',
  },
  operations: { instance: 'string', activity: 'array' },
  logs: { instance: 'string', text: 'string' },
  blobs: { name: 'string', content_type: 'string' },
  jobs: { kind: 'string', data: 'object' },
  provider_logs: { provider_id: 'string', text: 'string' },
};

/** Members that are lists of objects, wherever they stand. */
const OBJECTS = new Set(['members', 'variables', 'policyVariables', 'services', 'bindings', 'activity']);

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
const isObject = (value: unknown): value is Record<string, unknown> => kindOf(value) === 'object';

/** Reads a state. @throws {@link StateError} that names what is wrong */
export function parseState(text: string): StateDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StateError(`the state is not JSON: ${(cause as Error).message}`);
  }
  return checkState(value);
}

/** The value, when it is a state. @throws {@link StateError} that names what is wrong */
export function checkState(value: unknown): StateDocument {
  if (!isObject(value) || value['format'] !== 'boxwright-sandbox') {
    throw new StateError('this is no exported state: its format is not "boxwright-sandbox"');
  }
  const { layout, now, tables, gone = {}, content = {} } = value;
  if (!Number.isInteger(layout) || Number(layout) < 1 || Number(layout) > MIGRATIONS.length) {
    throw new StateError(`the state has layout ${String(layout)}, this build knows ${MIGRATIONS.length}`);
  }
  if (typeof now !== 'number' || !Number.isFinite(now)) throw new StateError('now: is no number');
  if (!isServiceTime(now)) throw new StateError('now: is no time from 1970 to 9998, in milliseconds');
  if (!isObject(tables)) throw new StateError('tables: is no object');
  for (const [name, records] of Object.entries(tables)) checkTable(name, records);
  for (const [name, texts] of Object.entries({ gone, content })) {
    const ok = isObject(texts) && Object.values(texts).every((text) => typeof text === 'string');
    if (!ok) throw new StateError(`${name}: is no object of texts`);
  }
  if (!Array.isArray(tables['accounts']) || tables['accounts'].length === 0) {
    throw new StateError('tables.accounts: there is nobody; a state has one user at least');
  }
  checkEmails(tables['accounts'] as StateRecord[]);
  return { ...value, gone, content } as unknown as StateDocument;
}

/** One email is one user: passwords and tokens go by it. */
function checkEmails(accounts: readonly StateRecord[]): void {
  const seen = new Set<unknown>();
  for (const [n, { email }] of accounts.entries()) {
    if (seen.has(email)) throw new StateError(`tables.accounts[${n}].email: is there twice`);
    seen.add(email);
  }
}

function checkTable(name: string, records: unknown): void {
  const members = (MEMBERS as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>)[name];
  if (members === undefined) throw new StateError(`tables.${name}: there is no such table`);
  if (!Array.isArray(records)) throw new StateError(`tables.${name}: is no list`);
  const seen = new Set<unknown>();
  for (const [n, record] of (records as unknown[]).entries()) {
    const where = `tables.${name}[${n}]`;
    if (!isObject(record) || typeof record['id'] !== 'string') throw new StateError(`${where}: has no id`);
    if (seen.has(record['id'])) throw new StateError(`${where}: the id ${record['id']} is there twice`);
    seen.add(record['id']);
    for (const [member, kind] of Object.entries(members)) {
      const value = record[member];
      if (kindOf(value) !== kind) throw new StateError(`${where}.${member}: is no ${kind}`);
      if (Array.isArray(value) && OBJECTS.has(member) && !value.every(isObject)) {
        throw new StateError(`${where}.${member}: is no list of objects`);
      }
    }
  }
}
