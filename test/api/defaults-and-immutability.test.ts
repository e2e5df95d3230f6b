import { beforeAll, describe, expect, test } from 'vitest';
import { parseInstance } from '../../src/api/instance.ts';
import { testCluster, type TestCluster, type TestNamespace } from '../support/cluster.ts';
import { installKinds } from './install.ts';

let cluster: TestCluster;
let namespace: TestNamespace;

beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
  namespace = await cluster.namespace('api');
  return () => namespace.cleanup();
});

function manifest(kind: string, name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'boxwright.dev/v1alpha1', kind, metadata: { name }, spec });
}

async function create(kind: string, name: string, spec: object): Promise<void> {
  const result = await cluster.kubectl(['create', '-n', namespace.name, '-f', '-'], {
    input: manifest(kind, name, spec),
  });
  expect(result).toMatchObject({ code: 0 });
}

async function patch(kind: string, name: string, spec: object): Promise<string> {
  const change = JSON.stringify({ spec });
  const args = ['patch', kind, name, '-n', namespace.name, '--type=merge', '-p', change];
  return (await cluster.kubectl(args)).stderr;
}

const instance = {
  connectionRef: { name: 'main' },
  boxRef: { name: 'web' },
  policyBoxRef: { name: 'small' },
};

describe('defaults', () => {
  // G02: without it, tools that know kstatus take an untouched resource for done.
  test('a resource that nobody has looked at says so on the first read', async () => {
    await create('Instance', 'untouched', instance);
    const read = await cluster.get<{ status: unknown }>('instance', 'untouched', '-n', namespace.name);
    expect(read.status).toEqual({ observedGeneration: -1 });
  });

  test('waiting for Ready on it does not return', async () => {
    await create('Instance', 'waited-for', instance);
    const wait = await cluster.kubectl([
      'wait',
      '--for=condition=Ready',
      '--timeout=1s',
      '-n',
      namespace.name,
      'instance/waited-for',
    ]);
    expect(wait.code).not.toBe(0);
  });

  test('the parser fills what the API server fills', async () => {
    await create('Instance', 'filled', { ...instance, lease: { after: '8h' } });
    const stored = await cluster.get<{ spec: unknown; status: unknown }>(
      'instance',
      'filled',
      '-n',
      namespace.name,
    );
    const bare = { ...(stored as object), spec: { ...instance, lease: { after: '8h' } }, status: null };
    const parsed = parseInstance(bare);
    expect(parsed).toMatchObject({ ok: true, resource: { spec: stored.spec, status: stored.status } });
  });
});

describe('what cannot be changed', () => {
  const full = { ...instance, name: 'one', owner: 'team', ipv4Address: '10.0.0.1' };
  const added = { owner: 'team', name: 'one', ipv4Address: '10.0.0.7' };
  const changes: [string, object][] = [
    ['connectionRef', { connectionRef: { name: 'other' } }],
    ['boxRef', { boxRef: { name: 'other' } }],
    ['policyBoxRef', { policyBoxRef: { name: 'other' } }],
    ['name', { name: 'two' }],
    ['owner', { owner: 'others' }],
    ['ipv4Address', { ipv4Address: '10.0.0.2' }],
    ['policyVariables', { policyVariables: [{ name: 'A', type: 'Text', value: 'a' }] }],
  ];

  test('a changed field of an Instance is refused and named', async () => {
    await create('Instance', 'changed', full);
    for (const [field, change] of changes) {
      expect(await patch('instance', 'changed', change)).toContain(
        `${field} is immutable: create a new Instance`,
      );
    }
  });

  test('a removed field is refused and named', async () => {
    await create('Instance', 'removed', full);
    for (const field of Object.keys(added)) {
      expect(await patch('instance', 'removed', { [field]: null })).toContain(`${field} is immutable`);
    }
  });

  test('an added field is refused and named', async () => {
    await create('Instance', 'added', instance);
    for (const [field, value] of Object.entries(added)) {
      expect(await patch('instance', 'added', { [field]: value })).toContain(`${field} is immutable`);
    }
  });

  test('a reference turned into an id is refused', async () => {
    await create('Instance', 'turned', instance);
    expect(await patch('instance', 'turned', { boxRef: null, boxId: 'b' })).toContain('boxId is immutable');
  });

  test('everything else can be changed', async () => {
    await create('Instance', 'free', instance);
    const change = {
      tags: ['a'],
      powerState: 'Stopped',
      deletionPolicy: 'Orphan',
      variables: [{ name: 'PORT', type: 'Port', value: '80' }],
      lease: { after: '1h' },
    };
    expect(await patch('instance', 'free', change)).toBe('');
  });

  test('a Box and a PolicyBox keep connection and owner', async () => {
    await create('Box', 'kept', { connectionRef: { name: 'main' } });
    await create('PolicyBox', 'kept', {
      connectionRef: { name: 'main' },
      providerId: 'p',
      profile: { schema: 'test/compute/profile' },
    });
    for (const kind of ['Box', 'PolicyBox']) {
      expect(await patch(kind, 'kept', { connectionRef: { name: 'other' } })).toContain(
        `create a new ${kind} with the other value`,
      );
      expect(await patch(kind, 'kept', { owner: 'others' })).toContain('owner is immutable');
      expect(await patch(kind, 'kept', { description: 'new' })).toBe('');
    }
  });
});

test('fields that are offered for selection select', async () => {
  await create('Instance', 'selected', { ...instance, connectionRef: { name: 'selected' } });
  await cluster.kubectl([
    'patch',
    'instance/selected',
    '-n',
    namespace.name,
    '--subresource=status',
    '--type=merge',
    '-p',
    '{"status": {"phase": "Deploying"}}',
  ]);
  for (const selector of ['spec.connectionRef.name=selected', 'status.phase=Deploying']) {
    const args = ['-n', namespace.name, '--field-selector', selector];
    const { items } = await cluster.get<{ items: { metadata: { name: string } }[] }>('instances', ...args);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['selected']);
  }
});

// G17
test('two tools each have their own variables of one Box', async () => {
  for (const [tool, name] of Object.entries({ one: 'A', two: 'B' })) {
    const spec = { connectionRef: { name: 'main' }, variables: [{ name, type: 'Text', value: 'a' }] };
    const result = await cluster.kubectl(
      ['apply', '-n', namespace.name, '--server-side', `--field-manager=${tool}`, '-f', '-'],
      { input: manifest('Box', 'shared', spec) },
    );
    expect(result).toMatchObject({ code: 0 });
  }
  const box = await cluster.get<{ spec: { variables: { name: string }[] } }>(
    'box',
    'shared',
    '-n',
    namespace.name,
  );
  expect(box.spec.variables.map(({ name }) => name)).toEqual(['A', 'B']);
});
