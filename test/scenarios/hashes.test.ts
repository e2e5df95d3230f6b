import { expect, it } from 'vitest';
import { KIND_NAMES, kindOf } from '../../src/api/kinds.ts';
import { seedOwn } from '../faults/own.ts';
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

/** Hashes of what is no secret and stands in spec anyway: what they are of, by the end of their path. */
const OF_PUBLIC: Readonly<Record<string, string>> = {
  'annotations.boxwright.dev/claim': 'installation, marker',
  'annotations.boxwright.dev/create-intent.lease.terms': 'operation and time of the lease',
  'annotations.boxwright.dev/deployed-lease.terms': 'operation and time of the lease',
  // Binds the note to its resource; an author could make one, so the sealing of claims has to replace it.
  'annotations.boxwright.dev/deployed-lease.seal': 'the note and its resource',
  'status.lease.source.terms': 'operation and time of the lease',
  'status.wanted': 'operation and time of the lease',
  'status.armed': 'powerState and lease',
  'status.appliedTags': 'tags',
};

/** All values that status and annotations have had, by where they stood. */
type Values = ReadonlyMap<string, ReadonlySet<string>>;

/** What is written while everything is created, changed while it runs, and changed while it is shut down. */
async function valuesWritten(key: number, secret: string, content: string): Promise<Values> {
  const world = new World();
  const out = new Map<string, Set<string>>();
  world.kube.store.listen(({ object, type }) => {
    const { kind, metadata, status } = object as typeof object & { status?: object };
    if (type === 'DELETED' || !KIND_NAMES.some((name) => name === kind)) return;
    const name = `${kind}/${metadata.name}`;
    collect(out, `${name} status`, status);
    collect(out, `${name} annotations`, metadata.annotations);
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

function collect(out: Map<string, Set<string>>, path: string, value: unknown): void {
  if (typeof value === 'string' && value.startsWith('{')) collect(out, path, JSON.parse(value));
  else if (Array.isArray(value)) for (const item of value) collect(out, `${path}.[]`, item);
  else if (value !== null && typeof value === 'object') {
    for (const [member, inner] of Object.entries(value)) collect(out, `${path}.${member}`, inner);
  } else if (value !== undefined && value !== null) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    out.set(path, (out.get(path) ?? new Set()).add(text));
  }
}

function valuesOf(values: Values, path: string): ReadonlySet<string> {
  return values.get(path) ?? new Set();
}

function looksLikeHash(value: string): boolean {
  return /(?<![a-z0-9-])([a-z2-7]{8}:)?[a-z2-7]{16,}(?![a-z0-9-])|bw-|[0-9a-f]{32,}/.test(value);
}

/** Fields of status that hold a hash, as the definitions describe them: `Box status.files.[].hmac`. */
function hashFields(): string[] {
  return KIND_NAMES.flatMap((kind) =>
    fieldsOf(kindOf(kind).schema.properties.status, `${kind} status`)
      .filter(({ name, description }) => isHash(name, description))
      .map(({ path }) => path),
  );
}

function isPublic(path: string): boolean {
  return Object.keys(OF_PUBLIC).some((end) => path.replace(' ', '.').endsWith(end));
}

/** A token of the user is kept as its hash only where it is too long. */
function isHash(name: string, description: string): boolean {
  return (
    /(hash|hmac)$/i.test(name) ||
    (/\b(hash|hmac)\b/i.test(description) && !/its hash where/i.test(description))
  );
}

interface Schema {
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

function fieldsOf(schema: unknown, path: string): { path: string; name: string; description: string }[] {
  const { properties = {}, items } = (schema ?? {}) as Schema;
  return [
    ...(items === undefined ? [] : fieldsOf(items, `${path}.[]`)),
    ...Object.entries(properties).flatMap(([name, member]) => [
      { path: `${path}.${name}`, name, description: member.description ?? '' },
      ...fieldsOf(member, `${path}.${name}`),
    ]),
  ];
}

it('keyed is all in status and annotations that tells of a secret or a content, and each hash but those of what is public', async () => {
  const one = await valuesWritten(7, 'first-password', 'keepalive 65');
  const otherSecret = await valuesWritten(7, 'other-password', 'keepalive 65');
  const otherContent = await valuesWritten(7, 'first-password', 'keepalive 66');
  const otherKey = await valuesWritten(9, 'first-password', 'keepalive 65');

  // Whatever it looks like: a value that another secret changes and another key does not is a hash without the key.
  const telling = [...one].flatMap(([path, values]) =>
    [otherSecret, otherContent].flatMap((other) =>
      [...values.difference(valuesOf(other, path))].map((value) => ({ path, value })),
    ),
  );
  expect(telling.length).toBeGreaterThan(10);
  expect(telling.filter(({ path, value }) => valuesOf(otherKey, path).has(value))).toEqual([]);

  const unkeyed = [...one].flatMap(([path, values]) =>
    [...values.intersection(valuesOf(otherKey, path))].some(looksLikeHash) ? [path] : [],
  );
  expect(unkeyed.filter((path) => !isPublic(path))).toEqual([]);

  // What this test does not come upon, it does not judge.
  const seen = new Set([...one.keys()].map((path) => path.replace(/\/\S+/, '')));
  expect(hashFields().filter((path) => !seen.has(path))).toEqual([]);
});
