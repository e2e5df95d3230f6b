import { KINDS, type KindName } from '../../src/api/kinds.ts';
import { GROUP } from '../../src/api/names.ts';
import type { KubeObject, KubePort } from '../../src/kube/index.ts';
import { CONNECTION, examples, World, type Shown } from './world.ts';

/** An object as it was stored at some moment of a story. */
export interface Captured {
  /** What is telling of it, such as `Instance Deploying Reconciling`. */
  name: string;
  object: Shown & KubeObject;
}

/**
 * Objects of every kind at every phase, as the real operator wrote them: a story is played in an in-process
 * world, and of the versions that look alike to a GitOps tool the first is kept.
 */
export async function captureObjects(): Promise<Captured[]> {
  const found = new Map<string, Captured>();
  const keep = (body: unknown): void => {
    if (!isOurs(body)) return;
    const object = structuredClone(body);
    const key = JSON.stringify(telling(object));
    if (!found.has(key)) found.set(key, { name: nameOf(object), object });
  };
  const world = new World({ kubePort: (port) => listening(port, keep) });
  const look = (): void => {
    for (const { kind } of KINDS) for (const object of world.list(kind as KindName)) keep(object);
  };
  for (const chapter of STORY) {
    await chapter(world, look);
    look();
  }
  return [...found.values()];
}

/** Everything that the operator writes passes here. */
function listening(port: KubePort, keep: (body: unknown) => void): KubePort {
  return {
    watch: (request) => port.watch(request),
    async request(request) {
      const answer = await port.request(request);
      if (request.method !== 'GET' && answer.status < 300) keep(answer.body);
      return answer;
    },
  };
}

function isOurs(body: unknown): body is Shown & KubeObject {
  const { apiVersion, kind } = (body ?? {}) as { apiVersion?: string; kind?: string };
  return apiVersion?.startsWith(`${GROUP}/`) === true && KINDS.some((definition) => definition.kind === kind);
}

function telling({ kind, metadata, spec, status }: Shown & KubeObject): unknown[] {
  return [
    kind,
    metadata.deletionTimestamp !== undefined,
    metadata.annotations?.['boxwright.dev/paused'],
    status?.observedGeneration === metadata.generation,
    spec['paused'],
    spec['powerState'],
    status?.['phase'],
    status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
  ];
}

function nameOf({ kind, metadata, status }: Shown & KubeObject): string {
  const conditions = (status?.conditions ?? []).map(({ type, status: is, reason }) =>
    is === 'True' ? `${type}(${reason})` : `not ${type}(${reason})`,
  );
  const stale = status?.observedGeneration === metadata.generation ? [] : ['not observed'];
  const going = metadata.deletionTimestamp === undefined ? [] : ['deleting'];
  const phase = typeof status?.['phase'] === 'string' ? [status['phase']] : [];
  return [kind, metadata.name, ...phase, ...going, ...stale, ...conditions].join(' ');
}

type Chapter = (world: World, look: () => void) => Promise<void>;

const settled = (world: World): Promise<void> =>
  world.until(
    () =>
      KINDS.every(({ kind }) =>
        world
          .list(kind as KindName)
          .every(
            ({ metadata, status }) =>
              status?.observedGeneration === metadata.generation &&
              status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
          ),
      ),
    4 * 3_600_000,
  );

const reason = (world: World, kind: KindName, name: string, type = 'Ready'): string | undefined =>
  world.condition(kind, name, type)?.reason;
const phase = (world: World): unknown => world.get('Instance', 'web-eu')?.status?.['phase'];
const idOf = (world: World, name: string): string => world.get('Instance', name)?.status?.id ?? '';

const STORY: readonly Chapter[] = [
  // Applied while no operator runs.
  async (world) => {
    await world.apply(examples());
  },
  // The connection is missing at first.
  async (world) => {
    world.start();
    await world.until(() => reason(world, 'Box', 'web') === 'WaitingForConnection');
    await world.apply(CONNECTION);
    await settled(world);
  },
  async (world) => {
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await settled(world);
    await world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await settled(world);
  },
  async (world) => {
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => phase(world) === 'Reinstalling');
    await settled(world);
    await world.edit('Instance', 'web-eu', { variables: [{ name: 'PORT', type: 'Port', value: '81' }] });
    await world.until(() => phase(world) === 'Reconfiguring');
    await settled(world);
  },
  // A lease that is nearly over, is carried out, and is renewed.
  async (world, look) => {
    await world.until(() => world.condition('InstanceLease', 'evening', 'LeaseExpiring') !== undefined, 9e7);
    look();
    await world.until(() => reason(world, 'Instance', 'web-eu') === 'LeaseReleased', 9e7);
    look();
    await world.annotate('InstanceLease', 'evening', { 'boxwright.dev/renew': '1' });
    await world.until(() => phase(world) === 'Online');
    await settled(world);
  },
  // Paused: in step, by annotation, and with a change that waits.
  async (world, look) => {
    for (const [kind, name] of PAUSABLE) {
      await world.annotate(kind, name, { 'boxwright.dev/paused': 'true' });
    }
    await world.advance(60_000);
    look();
    for (const [kind, name] of PAUSABLE) {
      await world.edit(kind, name, { paused: true, ...(kind === 'Instance' ? { tags: ['later'] } : {}) });
    }
    await world.until(() => reason(world, 'Instance', 'web-eu') === 'Paused');
    look();
    for (const [kind, name] of PAUSABLE) {
      await world.annotate(kind, name, { 'boxwright.dev/paused': null });
      await world.edit(kind, name, { paused: false });
    }
    await settled(world);
  },
  // An outage and a request to slow down: with a change under way, and with none.
  async (world, look) => {
    for (const fault of [{ status: 503 }, { status: 429, retryAfter: 30 }]) {
      world.sandbox.admin.addFault({ match: {}, ...fault });
      await world.advance(1_200_000);
      look();
      await world.edit('Box', 'web', { description: `Front end ${fault.status}` });
      await world.edit('PolicyBox', 'small', { description: `One small machine ${fault.status}` });
      await world.edit('Instance', 'web-eu', { tags: [`s${fault.status}`] });
      await world.advance(600_000);
      look();
      world.sandbox.admin.removeFault();
      await settled(world);
    }
  },
  // What the service refuses.
  async (world) => {
    world.sandbox.admin.addFault({ match: { method: 'PUT' }, status: 400, message: 'not like this' });
    await world.edit('Box', 'web', { description: 'Refused' });
    await world.edit('PolicyBox', 'small', { description: 'Refused' });
    await world.edit('Instance', 'web-eu', { tags: ['refused'] });
    await world.until(
      () =>
        reason(world, 'Box', 'web', 'Stalled') === 'Refused' &&
        reason(world, 'PolicyBox', 'small', 'Stalled') === 'Refused' &&
        reason(world, 'Instance', 'web-eu', 'Stalled') === 'Refused',
    );
    world.sandbox.admin.removeFault();
    await world.edit('Box', 'web', { description: 'Taken' });
    await world.edit('PolicyBox', 'small', { description: 'Taken' });
    await world.edit('Instance', 'web-eu', { tags: ['taken'] });
    await settled(world);
  },
  // Drift that is only reported.
  async (world, look) => {
    await world.edit('Instance', 'web-eu', { driftPolicy: 'Report' });
    await settled(world);
    world.sandbox.admin.editRecord('instances', idOf(world, 'web-eu'), { tags: [] });
    await world.until(() => world.condition('Instance', 'web-eu', 'Drifted') !== undefined, 9e6);
    look();
    await world.edit('Instance', 'web-eu', { driftPolicy: 'Correct' });
    await settled(world);
  },
  // A failed deploy, a state that nobody knows, a record that somebody terminated, a second lease.
  async (world, look) => {
    world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
    await world.apply(SECOND);
    await world.until(() => reason(world, 'Instance', 'second') === 'OperationFailed');
    look();
    await world.annotate('Instance', 'second', { 'boxwright.dev/request-redeploy': '1' });
    await world.until(() => reason(world, 'Instance', 'second') === 'Settled');
    world.sandbox.admin.editRecord('instances', idOf(world, 'second'), { state: 'melting' });
    await world.until(() => reason(world, 'Instance', 'second') === 'UnknownState', 9e6);
    look();
    world.sandbox.admin.editRecord('instances', idOf(world, 'second'), { state: 'done' });
    await world.until(() => reason(world, 'Instance', 'second') === 'Settled', 9e6);
    await world.apply(SECOND_LEASE);
    await world.until(() => reason(world, 'InstanceLease', 'second', 'Stalled') === 'Conflict');
    look();
    await world.delete('InstanceLease', 'second');
    await world.sandbox.handle({
      method: 'DELETE',
      path: `/services/instances/${idOf(world, 'second')}?operation=terminate`,
      headers: { 'service-token': 'token-of-ops' },
      body: new Uint8Array(),
    });
    await world.until(() => reason(world, 'Instance', 'second') === 'RecordMissing', 9e6);
  },
  // Credentials that are not taken any more.
  async (world) => {
    world.sandbox.admin.revokeTokens();
    await world.until(() => reason(world, 'Connection', 'main', 'Stalled') === 'CredentialsRejected', 9e6);
    await world.delete('Secret', 'deploy-login');
    await world.until(() => reason(world, 'Connection', 'main') === 'WaitingForSecret', 9e6);
    const token = world.sandbox.admin.issueToken('ops@example.com');
    await world.apply(CONNECTION.replace('token-of-ops', token));
    await world.until(() => reason(world, 'Connection', 'main') === 'Settled', 9e6);
  },
  // Everything goes, what is used first.
  async (world, look) => {
    for (const kind of ['Connection', 'PolicyBox', 'Box', 'Instance', 'InstanceLease'] as const) {
      for (const { metadata } of world.list(kind)) await world.delete(kind, metadata.name);
      await world.advance(1_000);
      look();
    }
    await world.until(() => KINDS.every(({ kind }) => world.list(kind as KindName).length === 0), 9e6);
    await world.stop();
  },
];

const PAUSABLE = [
  ['Box', 'web'],
  ['PolicyBox', 'small'],
  ['Instance', 'web-eu'],
  ['InstanceLease', 'evening'],
] as const;

const SECOND = `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: second}
spec:
  connectionRef: {name: main}
  boxRef: {name: runtime}
  policyBoxRef: {name: small}
  lease: {operation: Terminate, after: 1000h}
`;
const SECOND_LEASE = `
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: second}
spec: {instanceRef: {name: second}, operation: Terminate, after: 8h}
`;
