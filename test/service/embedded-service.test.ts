import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import {
  createSandbox,
  TEST_PROVIDER_ID,
  type ReadingChoice,
  type Sandbox,
} from '../../src/sandbox/index.ts';
import {
  createServiceClient,
  createUndiciPort,
  operationEvent,
  parseTimestamp,
  type InstanceRecord,
  type Read,
  type ServiceClient,
  type ServiceClientOptions,
  type Write,
} from '../../src/service/index.ts';
import { sandboxPort } from '../support/sandbox-port.ts';

interface World {
  sandbox: Sandbox;
  client: ServiceClient;
  workspace: string;
  /** Reads until the operation is over. */
  settled(id: string): Promise<InstanceRecord>;
  later(ms: number): Promise<void>;
}

const account = { email: 'ops@example.com', password: 'pw-1', token: 'token-1' };
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

type Way = 'in process' | 'over HTTP';

async function world(
  way: Way,
  readings: ReadingChoice = {},
  options: Partial<ServiceClientOptions> = {},
): Promise<World> {
  const clock = way === 'in process' ? new VirtualClock() : systemClock;
  const durations = Object.fromEntries(
    ['deploy', 'poweron', 'shutdown', 'reinstall', 'reconfigure', 'terminate', 'force_terminate'].map(
      (name) => [name, 300],
    ),
  );
  const sandbox = createSandbox({
    clock,
    account,
    teams: ['Shop Team'],
    durations,
    readings: { gone: '404', operationStatus: '202', ...readings },
  });
  closers.push(() => sandbox.stop());
  const credentials = { kind: 'password', email: account.email, password: account.password } as const;
  const common = {
    credentials,
    clock,
    random: Math.random,
    pace: { requestsPerSecond: 1_000, burst: 1_000 },
    ...options,
  };
  const later = async (ms: number): Promise<void> => {
    if (clock instanceof VirtualClock) await clock.advance(ms);
    else await clock.sleep(ms);
  };
  const client = await (async () => {
    if (way === 'in process') return createServiceClient({ port: sandboxPort(sandbox), ...common });
    const { url } = await sandbox.start();
    const port = createUndiciPort({
      endpoint: url,
      allowedHosts: ['127.0.0.1:*'],
      allowInsecure: true,
      allowLoopback: true,
      clock,
    });
    closers.push(() => port.close());
    return createServiceClient({ port, ...common });
  })();
  return {
    sandbox,
    client,
    workspace: sandbox.credentials.teams[0] ?? '',
    later,
    settled: async (id) => {
      for (let i = 0; i < 500; i++) {
        const record = found(await client.instances.read(id));
        if (record.state !== 'processing') return record;
        await later(10);
      }
      throw new Error(`${id} is still processing`);
    },
  };
}

function found<T>(read: Read<T>): T {
  if (read.kind !== 'found') throw new Error(`expected a record, got ${JSON.stringify(read)}`);
  return read.record;
}

function done<T>(write: Write<T>): T | undefined {
  if (write.kind !== 'ok') throw new Error(`expected success, got ${write.kind}: ${write.error.message}`);
  return write.record;
}

async function deployed(at: World): Promise<{ id: string; boxId: string; policyId: string }> {
  const { client, sandbox, workspace } = at;
  const base = sandbox.schemaBase;
  const box = done(
    await client.boxes.create({
      schema: `${base}/boxes/script`,
      name: 'web',
      owner: workspace,
      requirements: ['Linux'],
    }),
  );
  const blob = done(
    await client.blobs.uploadRaw({
      name: 'install.sh',
      bytes: Buffer.from('#!/bin/bash\necho hi\n'),
      contentType: 'text/x-sh',
    }),
  );
  if (box === undefined || blob === undefined) throw new Error('no record');
  done(
    await client.boxes.update(box.id, {
      ...box,
      variables: [{ name: 'PORT', type: 'Port', value: '80', required: true, visibility: 'public' }],
      events: { install: { ...blob, destination_path: 'scripts' } },
    }),
  );
  const policy = done(
    await client.boxes.create({
      schema: `${base}/boxes/policy`,
      name: 'small',
      owner: workspace,
      provider_id: TEST_PROVIDER_ID,
      profile: { schema: `${base}/test/compute/profile`, flavor: 'test.micro', instances: 1 },
      claims: ['Linux'],
    }),
  );
  if (policy === undefined) throw new Error('no policy box');
  const instance = done(
    await client.instances.deploy({
      schema: `${base}/deploy-instance-request`,
      owner: workspace,
      name: 'web-1',
      box: { id: box.id, variables: [{ name: 'PORT', type: 'Port', value: '8080' }] },
      policy_box: { id: policy.id, variables: [] },
      instance_tags: ['bw-marker'],
      lease: { operation: 'shutdown', expire: '2099-01-01 00:00:00.000000' },
    }),
  );
  if (instance === undefined) throw new Error('no instance');
  expect(instance).toMatchObject({
    state: 'processing',
    operation: { event: 'deploy' },
    tags: ['bw-marker'],
  });
  return { id: instance.id, boxId: box.id, policyId: policy.id };
}

describe.each(['in process', 'over HTTP'] as const)('against the embedded service %s', (way) => {
  it('takes an instance through its life', { timeout: 30_000 }, async () => {
    const at = await world(way);
    const { client } = at;
    const { id, boxId } = await deployed(at);
    const online = await at.settled(id);
    expect(online).toMatchObject({
      state: 'done',
      operation: { event: 'deploy' },
      lease: { operation: 'shutdown' },
    });
    expect(parseTimestamp(online.updated)).toBeGreaterThan(0);

    expect(await client.instances.remove(id, 'delete')).toMatchObject({
      kind: 'refused',
      error: { code: 'Conflict' },
    });
    done(await client.instances.operate(id, 'reconfigure'));
    expect(await client.instances.operate(id, 'shutdown')).toMatchObject({
      kind: 'refused',
      error: { class: 'Conflict' },
    });
    expect((await at.settled(id)).operation?.event).toBe('reconfigure');

    const current = found(await client.instances.read(id));
    done(
      await client.instances.update(id, {
        ...current,
        tags: ['bw-marker', 'blue'],
        lease: { operation: 'terminate', expire: '2098-01-01 00:00:00.000000' },
      }),
    );
    expect(found(await client.instances.read(id))).toMatchObject({
      tags: ['bw-marker', 'blue'],
      lease: { operation: 'terminate', released: false },
    });

    const operations = found(await client.instances.operations(id));
    expect(operations.map(operationEvent)).toEqual(['deploy', 'reconfigure']);
    expect(found(await client.instances.activity(id, 'deploy')).length).toBeGreaterThan(0);
    expect(found(await client.instances.machineLogs(id))).toBeTypeOf('string');

    done(await client.instances.operate(id, 'shutdown'));
    await at.settled(id);
    done(await client.instances.operate(id, 'poweron'));
    await at.settled(id);
    done(await client.instances.remove(id, 'terminate'));
    await at.settled(id);
    done(await client.instances.remove(id, 'delete'));
    expect((await client.instances.read(id)).kind).toBe('missing');
    done(await client.boxes.remove(boxId));
    expect((await client.boxes.read(boxId)).kind).toBe('missing');
  });

  it('gives files back as they were sent', async () => {
    const { client } = await world(way);
    const bytes = Buffer.from([0, 1, 255, 13, 10, 45, 45]);
    const blob = done(
      await client.blobs.uploadRaw({ name: 'a b.bin', bytes, contentType: 'application/x-odd' }),
    );
    expect(blob?.length).toBe(bytes.length);
    expect(Buffer.from(found(await client.blobs.download(blob?.url ?? '')))).toEqual(bytes);
  });

  it('reads the account', async () => {
    const { client, workspace } = await world(way);
    const workspaces = found(await client.workspaces.list());
    expect(workspaces.map(({ id }) => id)).toContain(workspace);
    expect(found(await client.workspaces.read(workspace)).schema).toMatch(/\/workspaces\/team$/);
    expect((await client.workspaces.read('nobody')).kind).toBe('missing');
    expect(found(await client.providers.read(TEST_PROVIDER_ID)).state).toBe('ready');
    expect(found(await client.workspaces.providers(workspace)).length).toBeGreaterThanOrEqual(0);
  });

  it('logs in again when every token is revoked', async () => {
    const { client, sandbox, workspace } = await world(way);
    found(await client.workspaces.read(workspace));
    sandbox.admin.revokeTokens();
    found(await client.workspaces.read(workspace));
    const logins = sandbox.admin.calls({ route: '/services/security/token' });
    expect(logins).toHaveLength(2);
  });

  it('reports a wrong password in the words of the service', async () => {
    const credentials = { kind: 'password', email: account.email, password: 'CANARY' } as const;
    const { client } = await world(way, {}, { credentials });
    const read = await client.workspaces.list();
    expect(read).toMatchObject({ kind: 'unknown', error: { code: 'CredentialsRejected', status: 401 } });
    expect(String(read.kind === 'unknown' && read.error)).not.toContain('CANARY');
  });

  it('does not know whether a create took effect when its answer is lost', async () => {
    const { client, sandbox, workspace } = await world(way);
    const body = {
      schema: `${sandbox.schemaBase}/boxes/script`,
      name: 'web',
      owner: workspace,
      requirements: [],
    };
    for (const lose of ['before', 'after'] as const) {
      sandbox.admin.addFault({ match: { method: 'POST', route: '/services/boxes' }, lose, times: 1 });
      expect(await client.boxes.create({ ...body, name: lose })).toMatchObject({ kind: 'unknown' });
    }
    const names = found(await client.workspaces.boxes(workspace)).map(({ name }) => name);
    expect(names).toContain('after');
    expect(names).not.toContain('before');
  });

  it.each([
    [{ status: 400 }, { kind: 'refused' }],
    [{ status: 403 }, { kind: 'refused' }],
    [{ status: 409 }, { kind: 'refused', error: { class: 'Conflict' } }],
    [
      { status: 429, retryAfter: 9 },
      { kind: 'notSent', error: { retryAfterMs: 9_000 } },
    ],
    [{ status: 500 }, { kind: 'unknown' }],
    [{ status: 503 }, { kind: 'unknown' }],
    [{ redirect: 'http://169.254.169.254/' }, { kind: 'refused', error: { code: 'Redirected' } }],
    [{ body: 'html' as const }, { kind: 'unknown' }],
    [{ body: 'truncated' as const }, { kind: 'unknown' }],
    [{ body: 'wrong-types' as const }, { kind: 'unknown' }],
    [{ body: 'empty' as const }, { kind: 'unknown' }],
    [{ body: 'extra-fields' as const }, { kind: 'ok' }],
  ])('takes a create that meets %j for what it is', async (fault, expected) => {
    const { client, sandbox, workspace } = await world(way);
    sandbox.admin.addFault({ match: { method: 'POST', route: '/services/boxes' }, times: 1, ...fault });
    const body = {
      schema: `${sandbox.schemaBase}/boxes/script`,
      name: 'web',
      owner: workspace,
      requirements: [],
    };
    expect(await client.boxes.create(body)).toMatchObject(expected);
  });

  it.each(['empty', 'html', 'text', 'truncated'] as const)(
    'takes a list whose body is %s for no answer',
    async (body) => {
      const at = await world(way);
      await deployed(at);
      at.sandbox.admin.addFault({ match: { route: '/services/workspaces/{workspace_id}/instances' }, body });
      const read = await at.client.workspaces.instances(at.workspace);
      expect(read.kind).toBe('unknown');
    },
  );

  it('shares one list among many and starts another after a write', async () => {
    const { client, sandbox, workspace } = await world(way);
    const route = '/services/workspaces/{workspace_id}/boxes';
    await Promise.all(Array.from({ length: 50 }, () => client.shared.list('boxes', workspace)));
    expect(sandbox.admin.calls({ route })).toHaveLength(1);
    const write = await client.boxes.create({
      schema: `${sandbox.schemaBase}/boxes/script`,
      name: 'web',
      owner: workspace,
      requirements: [],
    });
    if (write.kind !== 'ok') throw new Error(write.kind);
    const list = found(
      await client.shared.list('boxes', workspace, { notBefore: write.endedAt, maxAgeMs: 60_000 }),
    );
    expect(list.map(({ id }) => id)).toContain(write.record?.id);
    expect(sandbox.admin.calls({ route })).toHaveLength(2);
  });
});

describe('readings of open points', () => {
  it.each<ReadingChoice>([
    { login: 'text' },
    { operationStatus: '200' },
    { noLease: 'absent' },
    { listEntries: 'lean' },
    { ids: 'boxes' },
    { unknownFields: 'refused' },
    { release: 'strict' },
    { boxPut: 'more' },
    { secondPhase: 'hidden' },
  ])('works under %j', async (readings) => {
    const at = await world('in process', readings);
    const { id } = await deployed(at);
    await at.settled(id);
    done(await at.client.instances.update(id, found(await at.client.instances.read(id))));
    const list = found(await at.client.workspaces.instances(at.workspace, { ids: [id] }));
    expect(list.map((entry) => entry.id)).toContain(id);
    done(await at.client.instances.operate(id, 'shutdown'));
    await at.settled(id);
  });

  it('does not take a 403 for a deleted instance for a missing one', async () => {
    const at = await world('in process', { gone: '403' });
    const { id } = await deployed(at);
    await at.settled(id);
    done(await at.client.instances.remove(id, 'terminate'));
    await at.settled(id);
    done(await at.client.instances.remove(id, 'delete'));
    expect(await at.client.instances.read(id)).toMatchObject({ kind: 'unknown', error: { status: 403 } });
  });
});
