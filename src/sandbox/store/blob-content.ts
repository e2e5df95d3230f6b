import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';

/** The bytes of uploaded files, in SQLite only. */
export class BlobContent {
  readonly #database: Database;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare('INSERT OR REPLACE INTO blob_content (id, content) VALUES (?, ?)');
    this.#select = database.prepare('SELECT content FROM blob_content WHERE id = ?');
  }

  put(id: string, content: Uint8Array): void {
    // Nothing is kept in memory, so a rollback has nothing to put back.
    this.#database.writing(() => undefined);
    this.#insert.run(id, content);
  }

  get(id: string): Uint8Array | undefined {
    const row = this.#select.get(id) as { content: Uint8Array } | undefined;
    return row?.content;
  }
}
