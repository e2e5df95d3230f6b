import { KIND_NAMES, type KindName } from '../../src/api/kinds.ts';
import type { Stage } from './stage.ts';

/** What a user does, and what has to be so afterwards. */
export interface Step {
  name: string;
  act(stage: Stage): Promise<void>;
  done(stage: Stage): boolean;
  /** What the operator's own messages ask the user for meanwhile. */
  help?(stage: Stage): Promise<void>;
}

/** A sequence of steps. The effects of `setup` are those of other workloads: they are not planned for. */
export interface Workload {
  name: string;
  /** Nothing of the operator's own is there at the start: neither its installation id nor its key. */
  first?: boolean;
  /** Operations have ended before anybody can look again. */
  quick?: boolean;
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
  overrides:
    - {scope: runtime, name: WORKERS, type: Number, value: '4'}
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

function applying(name: string, manifests: string, done: (stage: Stage) => boolean): Step {
  return { name, act: (stage) => stage.apply(manifests), done };
}

/** Everything is Ready for its present generation, and nothing is under way. */
export function allReady(stage: Stage): boolean {
  for (const kind of KIND_NAMES) {
    for (const { metadata, status } of stage.list(kind)) {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status !== 'True' || status?.observedGeneration !== metadata.generation) return false;
      if (status.conditions?.some(({ type }) => type === 'Reconciling' || type === 'Stalled') === true)
        return false;
      if (status['currentOperation'] !== undefined) return false;
    }
  }
  return true;
}

function gone(...kinds: KindName[]): (stage: Stage) => boolean {
  return (stage) => kinds.every((kind) => stage.list(kind).length === 0);
}

const connected: Step = { name: 'connect', act: (stage) => stage.apply(stage.connection), done: allReady };
const contents = applying('contents', SECRET, () => true);
const placed = applying('place', SMALL, allReady);
const boxed = applying('box', `${SECRET}---${PLAIN_WEB}`, allReady);
const deployed = applying('deploy', INSTANCE, allReady);

/**
 * Credentials that are deleted in the same go are only in the memory of the process: after a crash the operator
 * asks for them.
 */
async function bringCredentials(stage: Stage): Promise<void> {
  if (!/CredentialsMissing|WaitingForSecret/.test(stage.describe())) return;
  if (stage.list('Secret').some(({ metadata }) => metadata.name === 'deploy-login')) return;
  await stage.apply(stage.connection.split('---')[0] ?? '');
}

function deletion(...names: [KindName | 'Secret' | 'ConfigMap', string][]): Step {
  return {
    name: 'delete',
    async act(stage) {
      for (const [kind, name] of names) await stage.delete(kind, name);
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

const statusOf = (stage: Stage): Record<string, unknown> => stage.get('Instance', 'web-eu')?.status ?? {};
const recordOf = (stage: Stage): Record<string, unknown> => {
  const id = statusOf(stage)['id'];
  return (stage.sandbox.admin.records('instances').find((record) => record.id === id) ??
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
        async act(stage) {
          await stage.edit('Box', 'runtime', {
            description: 'edited',
            variables: [
              { name: 'WORKERS', type: 'Number', value: '3' },
              { name: 'LEVEL', type: 'Text', value: 'info' },
            ],
          });
          await stage.apply(SECRET.replace('echo listening', 'echo listening well'));
        },
        done: (stage) =>
          allReady(stage) &&
          (stage.sandbox.admin.records('boxes') as unknown as { name: string; fields: object }[]).some(
            ({ name, fields }) => {
              const text = JSON.stringify(fields);
              return name === 'web' && blobsOf(stage, 'echo listening well').some((id) => text.includes(id));
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
        act: (stage) => stage.edit('PolicyBox', 'small', { description: 'edited' }),
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
        act: (stage) =>
          stage.edit('Instance', 'web-eu', {
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
        act: (stage) => stage.edit('Instance', 'web-eu', { powerState: 'Stopped' }),
        done: (stage) => allReady(stage) && statusOf(stage)['phase'] === 'ShutDown',
      },
      {
        name: 'start',
        act: (stage) => stage.edit('Instance', 'web-eu', { powerState: 'Running' }),
        done: (stage) => allReady(stage) && statusOf(stage)['phase'] === 'Online',
      },
      {
        name: 'reinstall',
        act: (stage) => stage.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'once' }),
        done: (stage) =>
          allReady(stage) && JSON.stringify(statusOf(stage)['handledRequests'] ?? {}).includes('once'),
      },
      {
        name: 'renew',
        async act(stage) {
          await stage.advance(70 * 60_000);
          await stage.annotate('InstanceLease', 'evening', { 'boxwright.dev/renew': 'again' });
        },
        done: (stage) =>
          allReady(stage) && stage.get('InstanceLease', 'evening')?.status?.['handledRenew'] === 'again',
      },
      {
        name: 'lease gone',
        async act(stage) {
          await stage.edit('Instance', 'web-eu', { leaseRef: null });
          await stage.delete('InstanceLease', 'evening');
        },
        done: (stage) => allReady(stage) && recordOf(stage)['lease'] === undefined,
      },
    ],
  },
  {
    name: 'quick operations',
    quick: true,
    setup: [connected, placed, boxed, deployed],
    steps: [
      {
        name: 'tags and reinstall',
        async act(stage) {
          await stage.edit('Instance', 'web-eu', { tags: ['shop', 'us'] });
          await stage.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'once' });
        },
        done: (stage) =>
          allReady(stage) && JSON.stringify(statusOf(stage)['handledRequests'] ?? {}).includes('once'),
      },
    ],
  },
  {
    name: 'shut down, then delete',
    setup: [connected, placed, boxed, deployed, contents],
    steps: [
      {
        name: 'stop',
        act: (stage) => stage.edit('Instance', 'web-eu', { powerState: 'Stopped' }),
        done: (stage) => allReady(stage) && statusOf(stage)['phase'] === 'ShutDown',
      },
      {
        name: 'change while stopped',
        act: (stage) =>
          stage.edit('Instance', 'web-eu', {
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
      { name: 'delete at once', act: (stage) => stage.delete('Instance', 'web-eu'), done: gone('Instance') },
    ],
  },
  {
    name: 'deleted while it is created',
    race: true,
    setup: [connected, placed, boxed],
    steps: [
      {
        name: 'create and delete',
        async act(stage) {
          await stage.apply(SELF_CONTAINED.replace(/.*CONF.*\n/, ''));
          await stage.apply(RUNTIME);
          await stage.advance(1_500);
          await stage.delete('Instance', 'web-eu');
          await stage.delete('Box', 'runtime');
        },
        done: (stage) => gone('Instance')(stage) && stage.get('Box', 'runtime') === undefined,
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
function blobsOf(stage: Stage, content: string): string[] {
  const { content: blobs } = stage.sandbox.admin.snapshot();
  return blobs.filter((blob) => Buffer.from(blob.content).toString() === content).map(({ id }) => id);
}
