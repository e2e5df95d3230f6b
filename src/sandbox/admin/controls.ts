import type { AccountSpec } from '../accounts.ts';
import type { OperationFault } from '../instances/run/operation-faults.ts';
import type { Admin, RecordTable } from './admin.ts';
import type { Snapshot } from './snapshot.ts';

export interface ControlCall {
  admin: Admin;
  snapshots: Map<string, Snapshot>;
  body: Record<string, unknown>;
  id: string;
  query: URLSearchParams;
}

export interface Control {
  about: string;
  run: (call: ControlCall) => unknown;
}

const TABLES: readonly string[] = [
  'boxes',
  'instances',
  'operations',
  'providers',
  'workspaces',
  'organizations',
] satisfies RecordTable[];

function tableOf(name: unknown): RecordTable {
  if (typeof name === 'string' && TABLES.includes(name)) return name as RecordTable;
  throw new Error(`table: choose one of ${TABLES.join(', ')}`);
}

/** Every control of the admin port, by method and path. */
export const CONTROLS: Readonly<Record<string, Control>> = {
  'GET /faults': { about: 'Faults of calls.', run: ({ admin }) => admin.faults() },
  'POST /faults': {
    about:
      'Adds a fault of calls: match {method, route, path, caller} and latency, status, retryAfter, lose, …',
    run: ({ admin, body }) => ({ id: admin.addFault({ match: {}, ...body }) }),
  },
  'DELETE /faults': { about: 'Removes all faults of calls.', run: ({ admin }) => admin.removeFault() },
  'DELETE /faults/{id}': { about: 'Removes one.', run: ({ admin, id }) => admin.removeFault(Number(id)) },
  'GET /operation-faults': { about: 'Faults of operations.', run: ({ admin }) => admin.operationFaults() },
  'POST /operation-faults': {
    about: 'Adds a fault of operations: {operation, instance, effect (stuck, fail or slow), factor, times}.',
    run: ({ admin, body }) => ({
      id: admin.addOperationFault(body as unknown as Omit<OperationFault, 'id'>),
    }),
  },
  'DELETE /operation-faults': {
    about: 'Removes all faults of operations.',
    run: ({ admin }) => admin.removeOperationFault(),
  },
  'GET /list-lag': { about: 'How far lists trail.', run: ({ admin }) => admin.listLag() },
  'PUT /list-lag': {
    about: 'Makes lists trail by {polls} or {ms}; {} ends it.',
    run: ({ admin, body }) => admin.setListLag(body),
  },
  'PUT /hide-created': {
    about: 'New records answer 404 for {reads} reads.',
    run: ({ admin, body }) => admin.hideCreated({ reads: Number(body['reads']) }),
  },
  'PUT /latency': {
    about: 'Latency of every call: {ms} or {ms: [low, high]}.',
    run: ({ admin, body }) => admin.setLatency(body['ms'] as number | [number, number]),
  },
  'GET /durations': { about: 'How long operations take.', run: ({ admin }) => admin.durations() },
  'PUT /durations': {
    about: 'Sets them, milliseconds: {deploy: 1000, …}.',
    run: ({ admin, body }) => admin.setDurations(body),
  },
  'GET /readings': { about: 'Readings of open points.', run: ({ admin }) => admin.readings() },
  'PUT /readings': {
    about: 'Switches readings: {name: value}.',
    run: ({ admin, body }) => admin.setReadings(body),
  },
  'GET /clock': { about: "The service's time.", run: ({ admin }) => ({ now: admin.now() }) },
  'POST /clock': {
    about: "Moves the service's clock by {jump} milliseconds.",
    run: ({ admin, body }) => {
      admin.jump(Number(body['jump']));
      return { now: admin.now() };
    },
  },
  'POST /tokens': {
    about: 'Issues a token for {user}.',
    run: ({ admin, body }) => ({ token: admin.issueToken(String(body['user'])) }),
  },
  'DELETE /tokens': {
    about: 'Revokes tokens: {token}, {user}, or all.',
    run: ({ admin, body }) => ({ revoked: admin.revokeTokens(body) }),
  },
  'POST /accounts': {
    about: 'Creates a user: {email, password, token, organization, administrator}.',
    run: ({ admin, body }) => ({ workspace: admin.createAccount(body as unknown as AccountSpec) }),
  },
  'GET /calls': {
    about: 'Calls so far; query since, method, route, caller.',
    run: ({ admin, query }) => {
      const { since, ...rest } = Object.fromEntries(query);
      return admin.calls({ ...rest, ...(since === undefined ? {} : { since: Number(since) }) });
    },
  },
  'DELETE /calls': { about: 'Forgets them.', run: ({ admin }) => admin.clearCalls() },
  'GET /unread': {
    about: 'Paths and headers that clients asked for and that nothing here answers or reads.',
    run: ({ admin }) => admin.unread(),
  },
  'GET /records/{id}': {
    about: 'All stored records of a table.',
    run: ({ admin, id }) => admin.records(tableOf(id)),
  },
  'PUT /records/{id}': {
    about: 'Changes a stored record by hand: {id, change: {…}}.',
    run: ({ admin, id, body }) =>
      admin.editRecord(tableOf(id), String(body['id']), body['change'] as Record<string, unknown>),
  },
  'DELETE /records/{id}': {
    about: 'Removes a stored record by hand: {id}.',
    run: ({ admin, id, body }) => admin.removeRecord(tableOf(id), String(body['id'])),
  },
  'GET /state': {
    about: 'Everything stored, as JSON; query secrets=true shows passwords and tokens.',
    run: ({ admin, query }) => admin.exportState(query.get('secrets') === 'true'),
  },
  'PUT /state': {
    about: 'Puts an exported state in the place of everything stored.',
    run: ({ admin, body }) => admin.importState(body),
  },
  'DELETE /state': {
    about: 'Removes everything but users and workspaces.',
    run: ({ admin }) => admin.resetState(),
  },
  'POST /snapshots': {
    about: 'Keeps a copy of everything stored under {name}.',
    run: ({ admin, snapshots, body }) => {
      snapshots.set(String(body['name']), admin.snapshot());
    },
  },
  'POST /restore': {
    about: 'Puts everything stored back to the snapshot {name}.',
    run: ({ admin, snapshots, body }) => {
      const kept = snapshots.get(String(body['name']));
      if (kept === undefined) throw new Error(`there is no snapshot ${String(body['name'])}`);
      admin.restore(kept);
    },
  },
};
