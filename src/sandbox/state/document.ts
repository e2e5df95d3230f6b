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

const TIMES = { created: 'string', updated: 'string' };
const OWNED = { ...TIMES, name: 'string', kind: 'string', owner: 'string', members: 'array' };
const BOX = { ...OWNED, description: 'string', variables: 'array', fields: 'object' };

/** What a record has at least, by path; without it, it could not be shown. */
const MEMBERS: Readonly<Record<StateTable, Readonly<Record<string, string>>>> = {
  accounts: { email: 'string', workspace: 'string', organization: 'string' },
  organizations: { ...TIMES, fields: 'object' },
  workspaces: { ...OWNED, organizations: 'array', fields: 'object' },
  boxes: BOX,
  revisions: {
    box: 'object',
    ...Object.fromEntries(Object.entries(BOX).map(([name, kind]) => [`box.${name}`, kind])),
  },
  providers: {
    ...OWNED,
    type: 'string',
    description: 'string',
    state: 'string',
    services: 'array',
    images: 'array',
    fields: 'object',
  },
  instances: {
    ...TIMES,
    name: 'string',
    box: 'string',
    owner: 'string',
    policy: 'string',
    state: 'string',
    stack: 'array',
    service: 'object',
    'service.id': 'string',
    'service.state': 'string',
    'service.machines': 'array',
    'service.state_history': 'array',
    operation: 'object',
    'operation.event': 'string',
    'operation.workspace': 'string',
    'operation.created': 'string',
    variables: 'array',
    policyVariables: 'array',
    tags: 'array',
    bindings: 'array',
    members: 'array',
  },
  operations: { ...TIMES, instance: 'string', operation: 'string', state: 'string', activity: 'array' },
  logs: {
    instance: 'string',
    operation: 'string',
    machine: 'string',
    box: 'string',
    event: 'string',
    text: 'string',
  },
  blobs: { name: 'string', content_type: 'string', length: 'number', upload_date: 'string' },
  jobs: { kind: 'string', data: 'object' },
  provider_logs: { ...TIMES, provider_id: 'string', text: 'string' },
};

/** Members that are lists of objects, wherever they stand. */
const OBJECTS = new Set([
  'members',
  'variables',
  'policyVariables',
  'services',
  'machines',
  'state_history',
  'images',
  'bindings',
  'activity',
]);

const memberAt = (record: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), record);

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
const isObject = (value: unknown): value is Record<string, unknown> => kindOf(value) === 'object';

/** Reads a state. @throws {@link StateError} that names what is wrong */
export function parseState(text: string): StateDocument {
  let value: unknown;
  try {
    // Some editors put a byte-order mark in front.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
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
    if (!/^[^\p{C}]+$/u.test(record['id'])) throw new StateError(`${where}.id: is no id`);
    if (seen.has(record['id'])) throw new StateError(`${where}: the id ${record['id']} is there twice`);
    seen.add(record['id']);
    for (const [member, kind] of Object.entries(members)) {
      const value = memberAt(record, member);
      if (kindOf(value) !== kind) throw new StateError(`${where}.${member}: is no ${kind}`);
      if (Array.isArray(value) && OBJECTS.has(member.replace(/^.*\./, '')) && !value.every(isObject)) {
        throw new StateError(`${where}.${member}: is no list of objects`);
      }
    }
  }
}
