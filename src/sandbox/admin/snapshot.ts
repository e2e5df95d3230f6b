import type { Store } from '../store/store.ts';
import { TABLES } from '../store/migrations.ts';

/** A copy of everything stored, opaque. */
export interface Snapshot {
  readonly tables: Readonly<Record<string, readonly { id: string; doc: string }[]>>;
  readonly content: readonly { id: string; content: Uint8Array }[];
}

/** Tables that a restore leaves alone: revoking a token and moving the clock are not undone by a backup. */
const KEPT = new Set<string>(['settings', 'tokens']);

const NAMES = TABLES.filter((name) => !KEPT.has(name));

export function snapshot(store: Store): Snapshot {
  const { database } = store;
  const rows = (name: string): { id: string; doc: string }[] =>
    database.prepare(`SELECT id, doc FROM ${name} ORDER BY rowid`).all() as { id: string; doc: string }[];
  const content = database.prepare('SELECT id, content FROM blob_content').all();
  return {
    tables: Object.fromEntries(NAMES.map((name) => [name, rows(name)])),
    content: content as unknown as Snapshot['content'],
  };
}

export function restore(store: Store, from: Snapshot): void {
  const { database } = store;
  database.run(() => {
    database.writing(() => undefined);
    for (const name of NAMES) {
      database.prepare(`DELETE FROM ${name}`).run();
      const insert = database.prepare(`INSERT INTO ${name} (id, doc) VALUES (?, ?)`);
      for (const row of from.tables[name] ?? []) insert.run(row.id, row.doc);
    }
    database.prepare('DELETE FROM blob_content').run();
    const insert = database.prepare('INSERT INTO blob_content (id, content) VALUES (?, ?)');
    for (const row of from.content) insert.run(row.id, row.content);
  });
  for (const name of NAMES) store[name].reload();
}
