import { expect, it } from 'vitest';
import { KIND_NAMES, kindOf } from '../../src/api/kinds.ts';
import { seedOwn } from '../faults/own.ts';
import { collect, countTelling, unkeyed, type Known, type Values } from '../judges/keyed-hashes.ts';
import { CONNECTION, World } from '../support/world.ts';

/** Everything whose hash stands somewhere in status, with a secret and the content of a ConfigMap in each. */
const MANIFESTS = (secret: string, content: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: web-admin}
stringData: {password: ${secret}, key.pem: ${secret}-as-a-file}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web-files}
data: {web.conf: ${content}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: base}
spec:
  connectionRef: {name: main}
  publish: {version: 1.0.0}
  variables:
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  readme: {configMapKeyRef: {name: web-files, key: web.conf}}
  variables:
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: web-files, key: web.conf}}}
    - {name: KEY, type: File, file: {secretKeyRef: {name: web-admin, key: key.pem}}}
    - {name: BASE, type: Box, boxRef: {name: base}}
  events: {install: {configMapKeyRef: {name: web-files, key: web.conf}}}
---
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
  variables:
    - {name: POLICY_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
    - {name: POLICY_KEY, type: File, file: {secretKeyRef: {name: web-admin, key: key.pem}}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: web-eu}
spec:
  connectionRef: {name: main}
  boxRef: {name: web}
  policyBoxRef: {name: small}
  variables:
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
    - {name: KEY, type: File, file: {secretKeyRef: {name: web-admin, key: key.pem}}}
  tags: [shop]
  applyChanges: Reconfigure
  powerState: Running
  leaseRef: {name: evening}
---
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: evening}
spec: {instanceRef: {name: web-eu}, operation: Shutdown, after: 8h}
`;

/** What they are of, by the end of their path. */
const KNOWN: Known = {
  ofPublic: {
    'annotations.boxwright.dev/claim': 'installation, marker',
    'annotations.boxwright.dev/create-intent.lease.terms': 'operation and time of the lease',
    'annotations.boxwright.dev/deployed-lease.terms': 'operation and time of the lease',
    // Binds the note to its resource; an author could make one, so the sealing of claims has to replace it.
    'annotations.boxwright.dev/deployed-lease.seal': 'the note and its resource',
    'status.lease.source.terms': 'operation and time of the lease',
    'status.wanted': 'operation and time of the lease',
    'status.armed': 'powerState and lease',
    'status.appliedTags': 'tags',
  },
  unseen: {
    'status.former.[].id': 'an id of the service',
    'status.former.[].endpoint': 'an endpoint',
    'status.former.[].owner': 'an id of the service',
    'status.former.[].seal': 'keyed, of the resource and an id, endpoint and owner',
    'status.former.[].seenWith': 'what the user has written into an annotation',
    'status.drift.[].field': 'the name of a field',
    'status.drift.[].want': 'the value itself, where it is no secret',
    'status.drift.[].have': 'the value itself, where it is no secret',
    'status.managed.members.[]': 'an id of the service',
    'status.managed.tags.[]': 'the tag itself',
    'status.managed.profile.[]': 'the name of a property',
    'status.bindings.[]': 'an id of the service',
    'status.currentOperation.token': 'what the user has written into an annotation',
    'status.refusedRequest.operation': 'an operation',
    'status.refusedRequest.message': 'the words of the service',
  },
};

/** What is written while everything is created, changed while it runs, and changed while it is shut down. */
async function valuesWritten(key: number, secret: string, content: string): Promise<Values> {
  const world = new World();
  const out = new Map<string, Set<string>>();
  world.kube.store.listen(({ object, type }) => {
    if (type !== 'DELETED' && KIND_NAMES.some((name) => name === object.kind)) collect(out, object);
  });
  try {
    seedOwn(world, key);
    world.start();
    await world.apply(CONNECTION);
    await world.apply(MANIFESTS(secret, content));
    await world.until(() => world.ready('Instance', 'web-eu') === 'True');
    await world.apply(MANIFESTS(`${secret}-new`, content));
    await world.advance(600_000);
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.until(() => world.get('Instance', 'web-eu')?.status?.['phase'] === 'ShutDown');
    await world.apply(
      MANIFESTS(`${secret}-newer`, content).replace('powerState: Running', 'powerState: Stopped'),
    );
    await world.advance(600_000);
    return out;
  } finally {
    world.kill();
    await world.sandbox.stop();
  }
}

it('keyed is all in status and annotations that tells of a secret or a content, and each hash but those of what is public', async () => {
  const runs = {
    one: await valuesWritten(7, 'first-password', 'keepalive 65'),
    others: [
      await valuesWritten(7, 'other-password', 'keepalive 65'),
      await valuesWritten(7, 'first-password', 'keepalive 66'),
    ],
    otherKey: await valuesWritten(9, 'first-password', 'keepalive 65'),
  };
  expect(countTelling(runs)).toBeGreaterThan(10);
  const statuses = Object.fromEntries(
    KIND_NAMES.map((kind) => [kind, kindOf(kind).schema.properties.status] as const),
  );
  expect(unkeyed(runs, KNOWN, statuses)).toEqual([]);
});
