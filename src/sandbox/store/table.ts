import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';

/** Read side of a table: the live one, or one that trails behind. */
export interface TableView<T> {
  get(id: string): T | undefined;
  all(): T[];
  /** Records whose index `name` holds `key`, in order of insertion. */
  by(name: string, key: string): T[];
}

interface Index<T> {
  keys: (doc: T) => readonly string[];
  ids: Map<string, Set<string>>;
}

interface Change<T> {
  seq: number;
  at: number;
  id: string;
  before: T | undefined;
}

/**
 * One kind of record: JSON documents in SQLite with a copy in memory. Documents are values: replaced, never
 * changed in place, so whoever holds one holds that version of the record.
 */
export class Table<T extends { id: string }> implements TableView<T> {
  readonly name: string;
  readonly #database: Database;
  readonly #docs = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  #seq = 0;
  #history: Change<T>[] | undefined;
  #now: () => number = () => 0;

  constructor(
    database: Database,
    name: string,
    indexes: Readonly<Record<string, (doc: T) => readonly string[]>> = {},
  ) {
    this.name = name;
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO ${name} (id, doc) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET doc = excluded.doc`,
    );
    this.#remove = database.prepare(`DELETE FROM ${name} WHERE id = ?`);
    for (const [key, keys] of Object.entries(indexes)) this.#indexes.set(key, { keys, ids: new Map() });
    this.#load();
  }

  get size(): number {
    return this.#docs.size;
  }

  /** Grows with every change. */
  get seq(): number {
    return this.#seq;
  }

  get(id: string): T | undefined {
    return this.#docs.get(id);
  }

  all(): T[] {
    return [...this.#docs.values()];
  }

  by(name: string, key: string): T[] {
    const out: T[] = [];
    for (const id of this.#index(name).ids.get(key) ?? []) {
      const doc = this.#docs.get(id);
      if (doc !== undefined) out.push(doc);
    }
    return out;
  }

  /** Inserts or replaces. */
  put(doc: T): T {
    const before = this.#docs.get(doc.id);
    this.#writing(doc.id, before);
    this.#insert.run(doc.id, JSON.stringify(doc));
    this.#set(doc.id, doc);
    return doc;
  }

  delete(id: string): void {
    const before = this.#docs.get(id);
    if (before === undefined) return;
    this.#writing(id, before);
    this.#remove.run(id);
    this.#set(id, undefined);
  }

  /** From now on {@link asOf} and {@link asOfTime} can look back. */
  remember(now: () => number): void {
    this.#now = now;
    this.#history ??= [];
  }

  forget(): void {
    this.#history = undefined;
  }

  /** The table as it was when {@link seq} had that value. */
  asOf(seq: number): TableView<T> {
    return this.#past((change) => change.seq > seq);
  }

  /** The table as it was at `at`, in the milliseconds of the clock given to {@link remember}. */
  asOfTime(at: number): TableView<T> {
    return this.#past((change) => change.at > at);
  }

  /** Reads everything again from SQLite, after a restore. */
  reload(): void {
    this.#seq++;
    this.#docs.clear();
    for (const index of this.#indexes.values()) index.ids.clear();
    this.#load();
  }

  #past(later: (change: Change<T>) => boolean): TableView<T> {
    const docs = new Map(this.#docs);
    for (const change of (this.#history ?? []).toReversed()) {
      if (!later(change)) break;
      if (change.before === undefined) docs.delete(change.id);
      else docs.set(change.id, change.before);
    }
    return {
      get: (id) => docs.get(id),
      all: () => [...docs.values()],
      by: (name, key) => {
        const { keys } = this.#index(name);
        return [...docs.values()].filter((doc) => keys(doc).includes(key));
      },
    };
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`table ${this.name} has no index ${name}`);
    return index;
  }

  #writing(id: string, before: T | undefined): void {
    this.#database.writing(() => {
      this.#set(id, before);
      this.#history?.pop();
    });
    this.#seq++;
    this.#history?.push({ seq: this.#seq, at: this.#now(), id, before });
  }

  #set(id: string, doc: T | undefined): void {
    const before = this.#docs.get(id);
    for (const index of this.#indexes.values()) {
      const oldKeys = before === undefined ? [] : index.keys(before);
      const newKeys = doc === undefined ? [] : index.keys(doc);
      for (const key of oldKeys) if (!newKeys.includes(key)) index.ids.get(key)?.delete(id);
      for (const key of newKeys) {
        const ids = index.ids.get(key);
        if (ids === undefined) index.ids.set(key, new Set([id]));
        else ids.add(id);
      }
    }
    if (doc === undefined) this.#docs.delete(id);
    else this.#docs.set(id, doc);
  }

  #load(): void {
    for (const row of this.#database.prepare(`SELECT doc FROM ${this.name} ORDER BY rowid`).iterate()) {
      const doc = JSON.parse((row as { doc: string }).doc) as T;
      this.#set(doc.id, doc);
    }
  }
}
