import { createAccount, type AccountSpec } from '../accounts.ts';
import type { CallFilter, CallRecord } from '../edge/calls.ts';
import type { EdgeParts } from '../edge/edge.ts';
import type { Fault } from '../edge/faults.ts';
import type { HideCreated } from '../edge/hidden.ts';
import type { ListLag } from '../edge/lag.ts';
import { compileRules, type ReadingChoice } from '../edge/readings.ts';
import type { UnreadRecord } from '../edge/unread.ts';
import type { OperationFault } from '../instances/run/operation-faults.ts';
import type { Service } from '../service.ts';
import type { Durations } from '../settings.ts';
import { checkState, StateError, type StateDocument } from '../state/document.ts';
import { exportState } from '../state/export.ts';
import { importState } from '../state/import.ts';
import { resetState } from '../state/reset.ts';
import { grantToken, tokenHash } from '../security/tokens.ts';
import { isServiceTime } from '../time.ts';
import { restore, snapshot, type Snapshot } from './snapshot.ts';

/** Tables that can be edited by hand. */
export type RecordTable = 'boxes' | 'instances' | 'operations' | 'providers' | 'workspaces' | 'organizations';

/**
 * What makes the sandbox misbehave, move in time, and tell what it was asked. The same controls are on the
 * admin port.
 */
export class Admin {
  readonly #parts: EdgeParts;
  #readings: ReadingChoice;

  constructor(parts: EdgeParts & { readings: ReadingChoice }) {
    this.#parts = parts;
    this.#readings = parts.readings;
  }

  /** Adds a fault of calls; returns its id. */
  addFault(fault: Omit<Fault, 'id'>): number {
    return this.#parts.faults.add(fault);
  }

  faults(): readonly Fault[] {
    return this.#parts.faults.list();
  }

  /** Removes one fault of calls, or all. */
  removeFault(id?: number): void {
    this.#parts.faults.remove(id);
  }

  /** Makes operations hang, fail at their end, or take long; returns the fault's id. */
  addOperationFault(fault: Omit<OperationFault, 'id'>): number {
    return this.#parts.service.operationFaults.add(fault);
  }

  operationFaults(): readonly OperationFault[] {
    return this.#parts.service.operationFaults.list();
  }

  removeOperationFault(id?: number): void {
    this.#parts.service.operationFaults.remove(id);
  }

  /** Makes lists trail behind; `{}` ends it. */
  setListLag(lag: ListLag): void {
    this.#parts.lag.set(lag);
  }

  listLag(): ListLag {
    return this.#parts.lag.current;
  }

  /** New records answer 404 for that many reads; 0 ends it. */
  hideCreated(hide: HideCreated): void {
    this.#parts.hidden.set(hide);
  }

  /** Milliseconds added to every call. */
  setLatency(latency: number | readonly [number, number]): void {
    this.#service.settings = { ...this.#service.settings, latency };
  }

  setDurations(durations: Partial<Durations>): void {
    const { settings } = this.#service;
    this.#service.settings = { ...settings, durations: { ...settings.durations, ...durations } };
  }

  durations(): Durations {
    return this.#service.settings.durations;
  }

  /** Switches readings of open points; those that are not named keep theirs. */
  setReadings(choice: ReadingChoice): void {
    const readings = { ...this.#readings, ...choice };
    this.#service.rules = compileRules(readings);
    this.#readings = readings;
    this.#service.views.clear();
  }

  readings(): ReadingChoice {
    return this.#readings;
  }

  /** The service's time, milliseconds since the epoch. */
  now(): number {
    return this.#service.time.now();
  }

  /** Moves the service's clock; what falls due in between happens at once, in order. */
  jump(ms: number): void {
    this.#moveClock(ms);
    this.#service.engine.rearm();
  }

  #moveClock(ms: number): void {
    const { time, store } = this.#service;
    if (!isServiceTime(time.now() + ms)) {
      throw new Error(`a jump of ${ms} ms leads too far: the clock goes from 1970 to 9998`);
    }
    time.setSkew(time.skew + ms);
    store.database.run(() => store.settings.put({ id: 'skew', value: time.skew }));
  }

  /** Makes tokens invalid: one, those of a user (by email or user name), or all. Returns how many. */
  revokeTokens(which: { token?: string; user?: string } = {}): number {
    const { store } = this.#service;
    const account =
      which.user === undefined
        ? undefined
        : (store.accounts.by('email', which.user.toLowerCase())[0] ??
          store.accounts.by('workspace', which.user)[0]);
    if (which.user !== undefined && account === undefined) throw new Error(`there is no user ${which.user}`);
    const doomed = store.tokens
      .all()
      .filter(
        (token) =>
          (which.token === undefined || token.id === tokenHash(which.token)) &&
          (account === undefined || token.account === account.id),
      );
    store.database.run(() => {
      for (const token of doomed) store.tokens.delete(token.id);
    });
    return doomed.length;
  }

  /** A new valid token for a user. */
  issueToken(user: string): string {
    const { store, ids } = this.#service;
    const account =
      store.accounts.by('email', user.toLowerCase())[0] ?? store.accounts.by('workspace', user)[0];
    if (account === undefined) throw new Error(`there is no user ${user}`);
    const token = ids.uuid();
    store.database.run(() => grantToken(this.#service, account.id, token));
    return token;
  }

  /** Creates a user; returns the id of the personal workspace. */
  createAccount(spec: AccountSpec): string {
    return this.#service.store.database.run(() => createAccount(this.#service, spec)).workspace;
  }

  /** What was asked so far, the oldest first. */
  calls(filter?: CallFilter): readonly CallRecord[] {
    return this.#parts.calls.list(filter);
  }

  /** Paths and headers that were asked for and that nothing answers or reads. */
  unread(): readonly UnreadRecord[] {
    return this.#parts.unread.list();
  }

  clearCalls(): void {
    this.#parts.calls.clear();
  }

  /** All records of a table as they are stored, for comparing. */
  records(table: RecordTable): readonly { id: string }[] {
    this.#service.engine.settle();
    return this.#service.store[table].all();
  }

  /** Changes members of a stored record, as a person would by hand. `updated` moves for records that have it. */
  editRecord(table: RecordTable, id: string, change: Record<string, unknown>): void {
    const { store, time } = this.#service;
    const records = store[table] as {
      get(id: string): { id: string } | undefined;
      put(doc: object): unknown;
    };
    const record = records.get(id);
    if (record === undefined) throw new Error(`${table} has no record ${id}`);
    store.database.run(() => records.put({ ...record, updated: time.stamp(), ...change, id }));
  }

  /** Removes a stored record, as a person would by hand. */
  removeRecord(table: RecordTable, id: string): void {
    const { store } = this.#service;
    store.database.run(() => store[table].delete(id));
  }

  /** Everything that is stored, at this moment. */
  snapshot(): Snapshot {
    this.#service.engine.settle();
    return snapshot(this.#service.store);
  }

  /** Puts everything stored back to a snapshot, as a restore from an old backup does. */
  restore(from: Snapshot): void {
    restore(this.#service.store, from);
    this.#service.engine.load();
    this.#service.engine.rearm();
  }

  /** Everything stored, as JSON; passwords and tokens are masked unless `secrets` is true. */
  exportState(secrets = false): StateDocument {
    const { engine, store, time, schemaBase } = this.#service;
    engine.settle();
    return exportState(store, { now: time.now(), schemaBase, secrets });
  }

  /** Puts a state in the place of everything stored, and the service's clock to its time. @throws StateError */
  importState(value: unknown): void {
    const state = checkState(value);
    const { schemaBase, store, time } = this.#service;
    if (state.schemaBase !== undefined && state.schemaBase !== schemaBase) {
      throw new StateError(
        `the state has the schema base ${state.schemaBase}: start with --schema-base of it`,
      );
    }
    this.#replace(() => {
      importState(store, state);
      // First of all: nothing of the state falls due in between.
      this.#moveClock(state.now - time.now());
    });
  }

  /** Removes everything but users and workspaces. */
  resetState(): void {
    const { store, time } = this.#service;
    this.#replace(() => resetState(store, time.now()));
  }

  #replace(change: () => void): void {
    const { engine, scripts, store, views } = this.#service;
    const before = store.instances.all();
    change();
    for (const { id } of before) scripts?.end(id);
    views.clear();
    engine.load();
    engine.rearm();
  }

  get #service(): Service {
    return this.#parts.service;
  }
}
