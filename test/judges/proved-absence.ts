import { parseDuration } from '../../src/base/duration.ts';
import type { Court, RecordTable, ServiceCall } from './judge.ts';
import { RECORD_KINDS } from './parts.ts';

/** The lag window of a Connection that names none, and the shortest that counts, milliseconds. */
const LAG_WINDOW_MS = 60_000;
const SHORTEST_MS = 20_000;
/** A look begins a little before its call goes out, milliseconds. */
const SLACK_MS = 1_000;
/** So many looks a quarter of the window apart, and so many windows where all of an owner's records are gone at once. */
const LOOKS = 3;
const WINDOWS_WHEN_ALL_GONE = 5;

/** What reads have not shown since the first that did not. */
interface Run {
  since: number;
  last: number;
  counted: number;
  countedAt: number;
  /** A list without it was answered. */
  isUnlisted: boolean;
  isAllGone: boolean;
}

/**
 * What the answers to the operator prove to be gone, whether or not it is: a record that no single GET and no list has
 * shown for a lag window. Whoever believes such a service does as the protocol says.
 */
export class ProvedAbsence {
  readonly #court: Court;
  readonly #runs = new Map<string, Run>();
  readonly #proved = new Set<string>();
  /** Records whose DELETE got no answer: one look that does not show them is enough. */
  readonly #unanswered = new Set<string>();

  constructor(court: Court) {
    this.#court = court;
  }

  isProved(id: string): boolean {
    return this.#proved.has(id);
  }

  /** Takes the answer to a call into account. */
  called(call: ServiceCall): void {
    const { method, record, status } = call;
    if (method !== 'GET') {
      if (record !== undefined) this.#seen(record.id);
      if (
        record !== undefined &&
        method === 'DELETE' &&
        status === undefined &&
        !/=terminate|=force/.test(call.path)
      )
        this.#unanswered.add(record.id);
      return;
    }
    if (record !== undefined && call.path.endsWith(`/${record.id}`)) {
      // What one service does not have says nothing of another one's record.
      if (this.#court.record(record.table, record.id, call.endpoint) === undefined) return;
      if (status === 404) this.#missed(record.id, call.at);
      if (status === 200) this.#seen(record.id);
      return;
    }
    const [, owner = '', table] = /^\/services\/workspaces\/([^/]+)\/(instances|boxes)/.exec(call.path) ?? [];
    if (table !== undefined && status === 200 && Array.isArray(call.answer))
      this.#listed(table as RecordTable, owner, call);
  }

  #seen(id: string): void {
    this.#runs.delete(id);
    this.#proved.delete(id);
    this.#unanswered.delete(id);
  }

  #missed(id: string, at: number): void {
    if (this.#unanswered.has(id)) this.#proved.add(id);
    const window = this.#windowMs();
    const run = this.#runs.get(id);
    if (run === undefined || at - run.last > window / 2) {
      if (this.#proved.has(id)) return;
      const fresh = { since: at, last: at, counted: 1, countedAt: at, isUnlisted: false, isAllGone: false };
      this.#runs.set(id, fresh);
      return;
    }
    run.last = at;
    if (at - run.countedAt >= window / 4 - SLACK_MS)
      Object.assign(run, { counted: run.counted + 1, countedAt: at });
    this.#conclude(id, run);
  }

  #listed(table: RecordTable, owner: string, { endpoint, answer }: ServiceCall): void {
    const entries = answer as readonly { id?: string }[];
    for (const { id } of entries) if (id !== undefined) this.#seen(id);
    const owned = this.#court.records(table, endpoint).filter((record) => record['owner'] === owner);
    const held = Object.entries(RECORD_KINDS)
      .filter(([, kind]) => kind.table === table)
      .flatMap(([plural]) => this.#court.resources(plural))
      .map(({ status }) => (status?.['home'] ?? {}) as { owner?: string; endpoint?: string })
      .filter((home) => home.owner === owner && home.endpoint === endpoint);
    for (const { id } of owned) {
      const run = this.#runs.get(id);
      if (run === undefined) continue;
      run.isUnlisted = true;
      run.isAllGone = entries.length === 0 && held.length >= 2;
      this.#conclude(id, run);
    }
  }

  #conclude(id: string, run: Run): void {
    const windows = run.isAllGone ? WINDOWS_WHEN_ALL_GONE : 1;
    if (
      run.isUnlisted &&
      run.counted >= LOOKS &&
      run.last - run.since >= this.#windowMs() * windows - SLACK_MS
    )
      this.#proved.add(id);
  }

  #windowMs(): number {
    const windows = ['connections', 'clusterconnections']
      .flatMap((resource) => this.#court.resources(resource))
      .map(({ spec }) => (spec['poll'] as { lagWindow?: string } | undefined)?.lagWindow)
      .map((text) => (text === undefined ? LAG_WINDOW_MS : parseDuration(text)));
    return Math.max(SHORTEST_MS, windows.length === 0 ? LAG_WINDOW_MS : Math.max(...windows));
  }
}
