import { expect, it } from 'vitest';
import { seedOwn } from '../faults/own.ts';
import { CONNECTION, World } from '../support/world.ts';

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
metadata: {name: web}
spec:
  connectionRef: {name: main}
  variables:
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: web-files, key: web.conf}}}
    - {name: KEY, type: File, file: {secretKeyRef: {name: web-admin, key: key.pem}}}
  events: {install: {configMapKeyRef: {name: web-files, key: web.conf}}}
---
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
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
  powerState: Running
  leaseRef: {name: evening}
---
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: evening}
spec: {instanceRef: {name: web-eu}, operation: Shutdown, after: 8h}
`;

/** Hashes of what is no secret and stands in spec anyway: what they are of, by the end of their path. */
const OF_PUBLIC: Readonly<Record<string, string>> = {
  'annotations.boxwright.dev/claim': 'installation, marker',
  'annotations.boxwright.dev/deployed-lease.terms': 'operation and time of the lease',
  // Binds the note to its resource; an author could make one, so the sealing of claims has to replace it.
  'annotations.boxwright.dev/deployed-lease.seal': 'the note and its resource',
  'status.lease.source.terms': 'operation and time of the lease',
  'status.wanted': 'operation and time of the lease',
  'status.armed': 'powerState and lease',
  'status.appliedTags': 'tags',
};

/** Everything that looks like a hash in status and annotations, by where it stands. */
async function hashes(key: number, secret: string, content: string): Promise<Map<string, string>> {
  const world = new World();
  try {
    seedOwn(world, key);
    world.start();
    await world.apply(CONNECTION);
    await world.apply(MANIFESTS(secret, content));
    await world.until(() => world.ready('Instance', 'web-eu') === 'True');
    // So that what a stopped instance notes of its variables is there as well.
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.until(() => world.get('Instance', 'web-eu')?.status?.['phase'] === 'ShutDown');
    await world.apply(
      MANIFESTS(`${secret}-new`, content).replace('powerState: Running', 'powerState: Stopped'),
    );
    await world.advance(600_000);
    const out = new Map<string, string>();
    for (const kind of ['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const) {
      for (const { metadata, status } of world.list(kind)) {
        const name = `${kind}/${metadata.name}`;
        collect(out, `${name} status`, status);
        collect(out, `${name} annotations`, metadata.annotations);
      }
    }
    return out;
  } finally {
    world.kill();
    await world.sandbox.stop();
  }
}

function collect(out: Map<string, string>, path: string, value: unknown): void {
  if (typeof value === 'string') {
    if (value.startsWith('{')) collect(out, path, JSON.parse(value));
    else if (/(?<![a-z0-9-])([a-z2-7]{8}:)?[a-z2-7]{16,}(?![a-z0-9-])|bw-/.test(value)) out.set(path, value);
  } else if (value !== null && typeof value === 'object') {
    for (const [member, inner] of Object.entries(value)) collect(out, `${path}.${member}`, inner);
  }
}

it('keyed is each hash in status and annotations but those of what is public, and all that tell of a secret', async () => {
  const one = await hashes(7, 'first-password', 'keepalive 65');
  const otherSecret = await hashes(7, 'other-password', 'keepalive 65');
  const otherContent = await hashes(7, 'first-password', 'keepalive 66');
  const otherKey = await hashes(9, 'first-password', 'keepalive 65');
  const unkeyed = [...one].filter(([path, value]) => otherKey.get(path) === value).map(([path]) => path);
  const telling = [...one].filter(
    ([path, value]) => otherSecret.get(path) !== value || otherContent.get(path) !== value,
  );
  expect(telling.length).toBeGreaterThan(4);
  expect(telling.map(([path]) => path).filter((path) => unkeyed.includes(path))).toEqual([]);
  const unknown = unkeyed.filter(
    (path) => !Object.keys(OF_PUBLIC).some((end) => path.replace(' ', '.').endsWith(end)),
  );
  expect(unknown).toEqual([]);
});
