import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/clock.ts';

const SQLITE_BUSY = 5;

/**
 * A lock between processes that the operating system drops when its holder dies, however it dies: SQLite's
 * exclusive lock on an empty database. A file that says "locked by process N" would need to be told stale
 * from live, and process numbers are used again.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The lock at `path`, or undefined while another process (or this one) holds it. */
  static tryAcquire(path: string): FileLock | undefined {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
      throw error;
    }
    writeFileSync(`${path}.owner`, `process ${process.pid}`);
    return new FileLock(database);
  }

  /** Waits for the lock, looking twice a second. Calls `onWait` once, with the holder, when it has to wait. */
  static async acquire(
    path: string,
    options: { clock: Clock; signal?: AbortSignal | undefined; onWait?: (owner: string) => void },
  ): Promise<FileLock> {
    for (let waiting = false; ; waiting = true) {
      const lock = FileLock.tryAcquire(path);
      if (lock !== undefined) return lock;
      if (!waiting) options.onWait?.(FileLock.owner(path));
      await options.clock.sleep(500, options.signal);
    }
  }

  /** Who took the lock last, for people. */
  static owner(path: string): string {
    try {
      return readFileSync(`${path}.owner`, 'utf8');
    } catch {
      // The holder is between taking the lock and writing its name.
      return 'another process';
    }
  }

  release(): void {
    this.#database.close();
  }
}
