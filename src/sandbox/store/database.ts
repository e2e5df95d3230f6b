import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
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

/** SQLite gives its other files the mode of this one. */
function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600);
}

/** Calls that share a commit. */
interface Group {
  after: (() => void)[];
  done: PromiseWithResolvers<void>;
}

/**
 * SQLite behind the tables. A change belongs to the transaction that {@link Database.run} opens with the first
 * write; with `synchronous=FULL` it is on the disk when `run` returns, so an answer sent afterwards is durable.
 */
export class Database {
  readonly sql: DatabaseSync;
  /** Whether a commit costs a sync, so that it pays to share one. */
  readonly #onDisk: boolean;
  #kind: 'own' | 'shared' | undefined;
  #broken: DataError | undefined;
  #open = false;
  #group: Group | undefined;
  #undo: (() => void)[] = [];
  #after: (() => void)[] = [];

  /** @param data a directory (made when absent), or `:memory:` @throws {@link DataError} */
  constructor(data: string) {
    if (data !== ':memory:') mkdirSync(data, { recursive: true, mode: 0o700 });
    this.#onDisk = data !== ':memory:';
    const file = this.#onDisk ? join(data, 'sandbox.db') : data;
    try {
      // It holds passwords of boxes; the directory may have been made by somebody less careful.
      if (this.#onDisk) makePrivate(file);
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
    if (this.#kind !== undefined) return fn();
    this.flush();
    const { result, after } = this.#transaction('own', fn, 'COMMIT', 'ROLLBACK');
    for (const call of after) call();
    return result;
  }

  /**
   * Like {@link run}, but shares the commit (and its sync) with other calls of the same turn of the event loop.
   * What was written is on the disk when {@link settled} has resolved.
   */
  share<T>(fn: () => T): T {
    if (!this.#onDisk) return this.run(fn);
    if (this.#kind !== undefined) return fn();
    const { result, after } = this.#transaction(
      'shared',
      fn,
      'RELEASE call',
      'ROLLBACK TO call; RELEASE call',
    );
    if (this.#group === undefined) for (const call of after) call();
    else this.#group.after.push(...after);
    return result;
  }

  /** Resolves when nothing that was written so far waits for its commit; rejects when the commit failed. */
  settled(): Promise<void> | undefined {
    return this.#group?.done.promise;
  }

  /** Commits what calls share, now. */
  flush(): void {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    try {
      this.sql.exec('COMMIT');
    } catch (cause) {
      // Memory is ahead of the disk now: nothing can be promised any more.
      this.#broken = new DataError(
        'DataUnreadable',
        'the data could not be written; restart the sandbox',
        cause,
      );
      group.done.reject(this.#broken);
      return;
    }
    group.done.resolve();
    for (const call of group.after) call();
  }

  /** Calls `fn` once what was written is on the disk; not at all when it is taken back. */
  after(fn: () => void): void {
    this.#after.push(fn);
  }

  /** Announces a write within {@link run}; `undo` puts the memory copy back when the transaction fails. */
  writing(undo: () => void): void {
    if (this.#kind === undefined) throw new Error('a table was written to outside a transaction');
    if (!this.#open) {
      if (this.#kind === 'own') {
        this.sql.exec('BEGIN IMMEDIATE');
      } else {
        this.#group ??= this.#begin();
        this.sql.exec('SAVEPOINT call');
      }
      this.#open = true;
    }
    this.#undo.push(undo);
  }

  #transaction<T>(
    kind: 'own' | 'shared',
    fn: () => T,
    commit: string,
    rollback: string,
  ): { result: T; after: (() => void)[] } {
    if (this.#broken !== undefined) throw this.#broken;
    this.#kind = kind;
    try {
      const result = fn();
      if (this.#open) this.sql.exec(commit);
      return { result, after: this.#after };
    } catch (error) {
      if (this.#open) this.sql.exec(rollback);
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    } finally {
      this.#kind = undefined;
      this.#open = false;
      this.#undo = [];
      this.#after = [];
    }
  }

  #begin(): Group {
    this.sql.exec('BEGIN IMMEDIATE');
    const group: Group = { after: [], done: Promise.withResolvers<void>() };
    // Nobody may be waiting for this one.
    group.done.promise.catch(() => undefined);
    setImmediate(() => {
      if (this.#group === group) this.flush();
    });
    return group;
  }

  prepare(sql: string): StatementSync {
    return this.sql.prepare(sql);
  }

  close(): void {
    if (this.sql.isOpen) this.flush();
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
