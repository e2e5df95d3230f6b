import { MASK } from '../boxes/masks.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import type { Store } from '../store/store.ts';
import { STATE_TABLES, type StateDocument, type StateRecord } from './document.ts';

export interface ExportOptions {
  /** The service's time, milliseconds since the epoch. */
  now: number;
  schemaBase?: string;
  /** Passwords and tokens too. @default false: they are masked, and passwords of users are left out */
  secrets?: boolean;
}

/** Everything stored, as JSON. Scripts, their output and files are in it as they are. */
export function exportState(
  store: Store,
  { now, schemaBase, secrets = false }: ExportOptions,
): StateDocument {
  const shown = (record: unknown): StateRecord => (secrets ? record : masked(record)) as StateRecord;
  const tables = Object.fromEntries(STATE_TABLES.map((name) => [name, store[name].all().map(shown)]));
  const gone = store.settings.all().filter(({ id }) => id.startsWith('gone:'));
  return {
    format: 'boxwright-sandbox',
    layout: MIGRATIONS.length,
    ...(schemaBase === undefined ? {} : { schemaBase }),
    now,
    tables,
    gone: Object.fromEntries(gone.map(({ id, value }) => [id.slice('gone:'.length), String(value)])),
    content: Object.fromEntries(
      store.blobs.all().map(({ id }) => [id, Buffer.from(store.content.get(id) ?? []).toString('base64')]),
    ),
  };
}

/** Members that are secret wherever they stand. */
const SECRET = new Set(['token', 'hash', 'salt', 'ldap_search_password']);

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const { type } = value as { type?: unknown };
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const secret = SECRET.has(name) || (name === 'value' && type === 'Password');
      if (!secret || typeof member !== 'string' || member === '') return [name, masked(member)];
      return [name, name === 'hash' || name === 'salt' ? '' : MASK];
    }),
  );
}
