import { CONNECTION, type World } from '../support/world.ts';
import type { KindName } from '../../src/api/kinds.ts';

/** What a user does, and what has to be so afterwards. */
export interface Step {
  name: string;
  act(world: World): Promise<void>;
  done(world: World): boolean;
  /** What the operator's own messages ask the user for meanwhile. */
  help?(world: World): Promise<void>;
}

/** A sequence of steps. The effects of `setup` are those of other workloads: they are not planned for. */
export interface Workload {
  name: string;
  /** Nothing of the operator's own is there at the start: neither its installation id nor its key. */
  first?: boolean;
  /** How far the create has got when the delete comes is not the same in each run. */
  race?: boolean;
  setup: readonly Step[];
  steps: readonly Step[];
}

const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: web-admin}
stringData: {password: canary-password}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web-files}
data: {web.conf: keepalive_timeout 65, configure.sh: echo listening}
`;
const RUNTIME = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: runtime, labels: {team: front}, annotations: {example.com/note: kept}}
spec:
  connectionRef: {name: main}
  description: Runtime that front ends share
  requirements: [Linux]
  variables:
    - {name: WORKERS, type: Number, value: '2'}
  events: {install: {inline: echo installing}}
`;
const WEB = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  description: Front end
  requirements: [Linux]
  variables:
    - {name: PORT, type: Port, value: '8080', required: true}
    - name: ADMIN_PASSWORD
      type: Password
      visibility: Private
      valueFrom: {secretKeyRef: {name: web-admin, key: password}}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: web-files, key: web.conf}}}
    - {name: runtime, type: Box, boxRef: {name: runtime}}
    - {name: WORKERS, scope: runtime, type: Number, value: '4'}
  events:
    install: {inline: echo installing the front end, destinationPath: /opt/web}
    configure: {configMapKeyRef: {name: web-files, key: configure.sh}}
`;
const SMALL = `
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  description: One small machine
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  profile:
    schema: test/compute/profile
    properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}
`;
const PLAIN_WEB = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  variables:
    - {name: PORT, type: Port, value: '8080', required: true}
    - name: ADMIN_PASSWORD
      type: Password
      valueFrom: {secretKeyRef: {name: web-admin, key: password}}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: web-files, key: web.conf}}}
  events: {install: {inline: echo installing}}
`;
const INSTANCE = `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: web-eu, labels: {tier: web}, annotations: {example.com/note: kept}}
spec:
  connectionRef: {name: main}
  boxRef: {name: web}
  policyBoxRef: {name: small}
  variables:
    - {name: PORT, type: Port, value: '80'}
    - name: ADMIN_PASSWORD
      type: Password
      valueFrom: {secretKeyRef: {name: web-admin, key: password}}
  tags: [shop, eu]
  powerState: Running
  applyChanges: Reconfigure
  leaseRef: {name: evening}
---
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: evening}
spec:
  instanceRef: {name: web-eu}
  operation: Shutdown
  after: 8h
  warnBefore: 30m
`;
/** The lease in the instance's own spec, an end by date, a File variable. */
const SELF_CONTAINED = `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: web-eu}
spec:
  connectionRef: {name: main}
  boxRef: {name: web}
  policyBoxRef: {name: small}
  variables:
    - {name: PORT, type: Port, value: '80'}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: web-files, key: web.conf}}}
  lease: {operation: Terminate, expireAt: '2026-03-01T00:00:00Z'}
`;

function applying(name: string, manifests: string, done: (world: World) => boolean): Step {
  return { name, act: (world) => world.apply(manifests), done };
}

/** Everything is Ready for its present generation, and nothing is under way. */
export function allReady(world: World): boolean {
  for (const kind of ['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const) {
    for (const { metadata, status } of world.list(kind)) {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status !== 'True' || status?.observedGeneration !== metadata.generation) return false;
      if (status.conditions?.some(({ type }) => type === 'Reconciling' || type === 'Stalled') === true)
        return false;
      if (status['currentOperation'] !== undefined) return false;
    }
  }
  return true;
}

function gone(...kinds: KindName[]): (world: World) => boolean {
  return (world) => kinds.every((kind) => world.list(kind).length === 0);
}

const connected = applying('connect', CONNECTION, allReady);
const contents = applying('contents', SECRET, () => true);
const placed = applying('place', SMALL, allReady);
const boxed = applying('box', `${SECRET}---${PLAIN_WEB}`, allReady);
const deployed = applying('deploy', INSTANCE, allReady);

/**
 * Credentials that are deleted in the same go are only in the memory of the process: after a crash the operator
 * asks for them.
 */
async function bringCredentials(world: World): Promise<void> {
  if (!/CredentialsMissing|WaitingForSecret/.test(world.describe())) return;
  if (world.list('Secret').some(({ metadata }) => metadata.name === 'deploy-login')) return;
  await world.apply(CONNECTION.split('---')[0] ?? '');
}

function deletion(...names: [KindName | 'Secret' | 'ConfigMap', string][]): Step {
  return {
    name: 'delete',
    async act(world) {
      for (const [kind, name] of names) await world.delete(kind, name);
    },
    done: gone(...names.map(([kind]) => kind).filter((kind) => kind !== 'Secret' && kind !== 'ConfigMap')),
    help: bringCredentials,
  };
}

const everything = deletion(
  ['Secret', 'deploy-login'],
  ['Connection', 'main'],
  ['Box', 'web'],
  ['PolicyBox', 'small'],
  ['InstanceLease', 'evening'],
  ['Instance', 'web-eu'],
  ['Secret', 'web-admin'],
);

const statusOf = (world: World): Record<string, unknown> => world.get('Instance', 'web-eu')?.status ?? {};
const recordOf = (world: World): Record<string, unknown> => {
  const id = statusOf(world)['id'];
  return (world.sandbox.admin.records('instances').find((record) => record.id === id) ??
    {}) as object as Record<string, unknown>;
};

/** The paths of create, operate and delete. */
export const WORKLOADS: readonly Workload[] = [
  {
    name: 'box',
    setup: [connected, contents],
    steps: [
      applying('create', `${RUNTIME}---${WEB}`, allReady),
      {
        name: 'edit',
        async act(world) {
          await world.edit('Box', 'runtime', {
            description: 'edited',
            variables: [
              { name: 'WORKERS', type: 'Number', value: '3' },
              { name: 'LEVEL', type: 'Text', value: 'info' },
            ],
          });
          await world.apply(SECRET.replace('echo listening', 'echo listening well'));
        },
        done: (world) =>
          allReady(world) &&
          (world.sandbox.admin.records('boxes') as unknown as { name: string; fields: object }[]).some(
            ({ name, fields }) => {
              const text = JSON.stringify(fields);
              return name === 'web' && blobsOf(world, 'echo listening well').some((id) => text.includes(id));
            },
          ),
      },
      deletion(['Box', 'runtime'], ['Box', 'web'], ['Secret', 'web-admin'], ['ConfigMap', 'web-files']),
    ],
  },
  {
    name: 'policy box',
    setup: [connected],
    steps: [
      applying('create', SMALL, allReady),
      {
        name: 'edit',
        act: (world) => world.edit('PolicyBox', 'small', { description: 'edited' }),
        done: allReady,
      },
      deletion(['PolicyBox', 'small']),
    ],
  },
  {
    name: 'instance',
    setup: [connected, placed, boxed],
    steps: [deployed, everything],
  },
  {
    name: 'operate',
    setup: [connected, placed, boxed, deployed],
    steps: [
      {
        name: 'variable',
        act: (world) =>
          world.edit('Instance', 'web-eu', {
            variables: [
              { name: 'PORT', type: 'Port', value: '81' },
              {
                name: 'ADMIN_PASSWORD',
                type: 'Password',
                valueFrom: { secretKeyRef: { name: 'web-admin', key: 'password' } },
              },
            ],
            tags: ['shop', 'us'],
          }),
        done: allReady,
      },
      {
        name: 'stop',
        act: (world) => world.edit('Instance', 'web-eu', { powerState: 'Stopped' }),
        done: (world) => allReady(world) && statusOf(world)['phase'] === 'ShutDown',
      },
      {
        name: 'start',
        act: (world) => world.edit('Instance', 'web-eu', { powerState: 'Running' }),
        done: (world) => allReady(world) && statusOf(world)['phase'] === 'Online',
      },
      {
        name: 'reinstall',
        act: (world) => world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'once' }),
        done: (world) =>
          allReady(world) && JSON.stringify(statusOf(world)['handledRequests'] ?? {}).includes('once'),
      },
      {
        name: 'renew',
        async act(world) {
          await world.advance(70 * 60_000);
          await world.annotate('InstanceLease', 'evening', { 'boxwright.dev/renew': 'again' });
        },
        done: (world) =>
          allReady(world) && world.get('InstanceLease', 'evening')?.status?.['handledRenew'] === 'again',
      },
      {
        name: 'lease gone',
        async act(world) {
          await world.edit('Instance', 'web-eu', { leaseRef: null });
          await world.delete('InstanceLease', 'evening');
        },
        done: (world) => allReady(world) && recordOf(world)['lease'] === undefined,
      },
    ],
  },
  {
    name: 'shut down, then delete',
    setup: [connected, placed, boxed, deployed, contents],
    steps: [
      {
        name: 'stop',
        act: (world) => world.edit('Instance', 'web-eu', { powerState: 'Stopped' }),
        done: (world) => allReady(world) && statusOf(world)['phase'] === 'ShutDown',
      },
      {
        name: 'change while stopped',
        act: (world) =>
          world.edit('Instance', 'web-eu', {
            variables: [{ name: 'PORT', type: 'Port', value: '82' }],
          }),
        done: allReady,
      },
      deletion(['InstanceLease', 'evening'], ['Instance', 'web-eu']),
    ],
  },
  {
    name: 'instance with a lease and a file of its own',
    setup: [connected, placed, boxed, contents],
    steps: [
      applying('deploy', SELF_CONTAINED, allReady),
      { name: 'delete at once', act: (world) => world.delete('Instance', 'web-eu'), done: gone('Instance') },
    ],
  },
  {
    name: 'deleted while it is created',
    race: true,
    setup: [connected, placed, boxed],
    steps: [
      {
        name: 'create and delete',
        async act(world) {
          await world.apply(SELF_CONTAINED.replace(/.*CONF.*\n/, ''));
          await world.apply(RUNTIME);
          await world.advance(1_500);
          await world.delete('Instance', 'web-eu');
          await world.delete('Box', 'runtime');
        },
        done: (world) => gone('Instance')(world) && world.get('Box', 'runtime') === undefined,
      },
    ],
  },
  {
    name: 'first start',
    first: true,
    setup: [],
    steps: [
      connected,
      placed,
      deletion(['Secret', 'deploy-login'], ['Connection', 'main'], ['PolicyBox', 'small']),
    ],
  },
];

/** Ids of the blobs with that content: a crash may leave one that nothing refers to. */
function blobsOf(world: World, content: string): string[] {
  const { content: blobs } = world.sandbox.admin.snapshot();
  return blobs.filter((blob) => Buffer.from(blob.content).toString() === content).map(({ id }) => id);
}
