import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from './migrations.ts';

/** Thrown when a data directory cannot be used. */
export class DataError extends Error {
  readonly code: 'DataTooNew' | 'DataUnreadable';

  constructor(code: DataError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DataError';
    this.code = code;
  }
}

/**
 * SQLite behind the tables. A change belongs to the transaction that {@link Database.run} opens with the first
 * write; with `synchronous=FULL` it is on the disk when `run` returns, so an answer sent afterwards is durable.
 */
export class Database {
  readonly sql: DatabaseSync;
  #depth = 0;
  #open = false;
  #undo: (() => void)[] = [];
  #after: (() => void)[] = [];

  /** @param data a directory (made when absent), or `:memory:` @throws {@link DataError} */
  constructor(data: string) {
    if (data !== ':memory:') mkdirSync(data, { recursive: true, mode: 0o700 });
    const file = data === ':memory:' ? data : join(data, 'sandbox.db');
    try {
      this.sql = new DatabaseSync(file);
      this.sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000');
      // One sandbox per directory: a second one fails at once instead of answering from an old copy.
      if (data !== ':memory:') this.sql.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    } catch (cause) {
      throw new DataError(
        'DataUnreadable',
        `cannot open ${file}: is another sandbox using it? Use another --data directory`,
        cause,
      );
    }
    this.#migrate(file);
  }

  /** Runs `fn`; commits what it wrote when it returns, takes everything back when it throws. */
  run<T>(fn: () => T): T {
    if (this.#depth > 0) return fn();
    const { result, after } = this.#transaction(fn);
    for (const call of after) call();
    return result;
  }

  /** Calls `fn` once what was written is on the disk; not at all when it is taken back. */
  after(fn: () => void): void {
    this.#after.push(fn);
  }

  #transaction<T>(fn: () => T): { result: T; after: (() => void)[] } {
    this.#depth++;
    try {
      const result = fn();
      if (this.#open) this.sql.exec('COMMIT');
      return { result, after: this.#after };
    } catch (error) {
      if (this.#open) this.sql.exec('ROLLBACK');
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    } finally {
      this.#depth--;
      this.#open = false;
      this.#undo = [];
      this.#after = [];
    }
  }

  /** Announces a write within {@link run}; `undo` puts the memory copy back when the transaction fails. */
  writing(undo: () => void): void {
    if (this.#depth === 0) throw new Error('a table was written to outside a transaction');
    if (!this.#open) {
      this.sql.exec('BEGIN IMMEDIATE');
      this.#open = true;
    }
    this.#undo.push(undo);
  }

  prepare(sql: string): StatementSync {
    return this.sql.prepare(sql);
  }

  close(): void {
    if (this.sql.isOpen) this.sql.close();
  }

  #migrate(file: string): void {
    const version = (this.sql.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
    if (version > MIGRATIONS.length) {
      this.close();
      throw new DataError(
        'DataTooNew',
        `${file} has layout ${version}, this build knows ${MIGRATIONS.length}: use a newer boxwright, or another --data directory`,
      );
    }
    for (let next = version; next < MIGRATIONS.length; next++) {
      this.sql.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[next]}; PRAGMA user_version = ${next + 1}; COMMIT`);
    }
  }
}
