import { SecretSet } from '../base/masking/secret-set.ts';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.ts';
import { settle, VirtualClock } from '../base/virtual-clock.ts';
import type { CallReport } from './call/caller.ts';
import { createServiceClient } from './client.ts';
import type { ServiceClient, ServiceClientOptions } from './client.ts';
import { ServiceTransportError } from './port.ts';
import type { PortAnswer, PortRequest } from './port.ts';
import { json, raw, rejectionOf, ScriptedPort } from './scripted-port.ts';
import type { Line } from './scripted-port.ts';

interface Setup {
  client: ServiceClient;
  port: ScriptedPort;
  clock: VirtualClock;
  reports: CallReport[];
  logged: string[];
}

function setup(
  script: (request: PortRequest, index: number) => Line,
  options: Partial<ServiceClientOptions> = {},
): Setup {
  const clock = new VirtualClock();
  const port = new ScriptedPort(script);
  const reports: CallReport[] = [];
  const logged: string[] = [];
  const note = (fields: object, message: string): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
  };
  const client = createServiceClient({
    port,
    credentials: { kind: 'token', token: 'tok-1' },
    clock,
    random: () => 0,
    onCall: (report) => reports.push(report),
    log: { ...silentLogger, debug: note },
    ...options,
  });
  return { client, port, clock, reports, logged };
}

const box = { id: 'b1', name: 'web', schema: 'x/boxes/script', updated: '2026-01-01 00:00:00.000000' };
const boxBody = { schema: 'x/boxes/script', name: 'web' };
const broken = (): ServiceTransportError => new ServiceTransportError('Broken', 'reset', { maybeSent: true });

describe('requests', () => {
  it('carries token, cookie and release under their usual names', async () => {
    const { client, port } = setup(() => json(200, box));
    await client.boxes.read('b1');
    expect(port.requests[0]?.headers).toMatchObject({
      'service-token': 'tok-1',
      'service-release': '4.0',
      cookie: 'token=tok-1',
    });
    expect(port.requests[0]?.headers).not.toHaveProperty('content-type');
  });

  it('carries token and release under the names of the connection', async () => {
    const { client, port } = setup(() => json(200, box), {
      headers: { token: 'X-Token', release: 'X-Release' },
      release: '5.1',
    });
    await client.boxes.read('b1');
    expect(port.requests[0]?.headers).toMatchObject({ 'x-token': 'tok-1', 'x-release': '5.1' });
    expect(port.requests[0]?.headers).not.toHaveProperty('service-token');
  });

  it('carries a bearer token in the authorization header', async () => {
    const { client, port } = setup(() => json(200, box), { headers: { tokenScheme: 'Bearer' } });
    await client.boxes.read('b1');
    expect(port.requests[0]?.headers['authorization']).toBe('Bearer tok-1');
  });

  it.each(['', '.', '..', 'a/b', '..\\x', 'a\nb', '\ud800'])('sends nothing for the id %j', async (id) => {
    const { client, port } = setup(() => json(200, box));
    expect(await client.boxes.read(id)).toMatchObject({ kind: 'unknown', error: { code: 'BadId' } });
    expect(await client.boxes.remove(id)).toMatchObject({ kind: 'notSent', error: { code: 'BadId' } });
    expect(port.requests).toHaveLength(0);
  });

  it('encodes ids and queries', async () => {
    const { client, port } = setup(() => json(200, []));
    await client.workspaces.instances('a b?', { ids: ['i-1', 'i&2'] });
    expect(port.requests[0]?.path).toBe('/services/workspaces/a%20b%3F/instances?ids=i-1,i%262');
  });

  it('asks for the whole list when the ids would not fit a request line', async () => {
    const { client, port } = setup(() => json(200, []));
    await client.workspaces.boxes('w', { ids: Array.from({ length: 201 }, (_, i) => `b${i}`) });
    expect(port.requests[0]?.path).toBe('/services/workspaces/w/boxes');
  });

  it('sends a body with reconfigure only', async () => {
    const { client, port } = setup(() => raw(202));
    await client.instances.operate('i-1', 'reconfigure');
    await client.instances.operate('i-1', 'shutdown');
    await client.instances.remove('i-1', 'force_terminate');
    expect(port.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PUT', '/services/instances/i-1/reconfigure', '{"id":"i-1","method":"reconfigure"}'],
      ['PUT', '/services/instances/i-1/shutdown', undefined],
      ['DELETE', '/services/instances/i-1?operation=force_terminate', undefined],
    ]);
  });
});

describe('reads', () => {
  it('finds a record and keeps fields that it does not know', async () => {
    const { client } = setup(() => json(200, { ...box, readme: { url: '/x' }, icon_metadata: null }));
    expect(await client.boxes.read('b1')).toMatchObject({
      kind: 'found',
      record: { id: 'b1', readme: { url: '/x' }, icon_metadata: null },
    });
  });

  it.each([
    ['404', json(404, { message: 'gone' }), { kind: 'missing' }],
    ['403', json(403, { message: 'no' }), { kind: 'unknown', error: { code: 'Forbidden', status: 403 } }],
    ['500', json(500, {}), { kind: 'unknown', error: { code: 'ServerError', class: 'Retryable' } }],
    ['302', raw(302, '', { location: 'http://evil' }), { kind: 'unknown', error: { code: 'Redirected' } }],
    ['HTML with 200', raw(200, '<html>log in</html>'), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['an empty 200', raw(200), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['a truncated body', raw(200, '{"id":"b1"'), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['another id', json(200, { ...box, id: 'b2' }), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['a number for an id', json(200, { ...box, id: 1 }), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['no id', json(200, { name: 'web' }), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    [
      'a wrong type',
      json(200, { ...box, variables: 'x' }),
      { kind: 'unknown', error: { code: 'BadAnswer' } },
    ],
    [
      'a nameless variable',
      json(200, { ...box, variables: [{}] }),
      { kind: 'unknown', error: { code: 'BadAnswer' } },
    ],
    [
      'bytes that are not UTF-8',
      raw(200, Buffer.from([0xff, 0xfe])),
      { kind: 'unknown', error: { code: 'BadAnswer' } },
    ],
    [
      'deep nesting',
      raw(200, `{"id":"b1","x":${'['.repeat(100)}${']'.repeat(100)}}`),
      { kind: 'unknown', error: { code: 'BadAnswer' } },
    ],
    ['a reset', broken(), { kind: 'unknown', error: { code: 'Broken' } }],
    ['an unexpected failure', new TypeError('secret tok-1'), { kind: 'unknown', error: { code: 'Broken' } }],
  ] as const)('takes %s for what it is', async (_, line, expected) => {
    const { client } = setup(() => line);
    expect(await client.boxes.read('b1')).toMatchObject(expected);
  });

  it('survives very deep nesting without overflow', async () => {
    const { client } = setup(() => raw(200, '['.repeat(1_000_000)));
    expect((await client.boxes.read('b1')).kind).toBe('unknown');
    const other = setup(() => raw(200, `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`));
    expect((await other.client.workspaces.boxes('w')).kind).toBe('unknown');
  });

  it('drops keys that could reach a prototype', async () => {
    const { client } = setup(() =>
      raw(200, '{"id":"b1","__proto__":{"polluted":1},"profile":{"constructor":{"x":1},"image":"a"}}'),
    );
    const read = await client.boxes.read('b1');
    expect(read.kind === 'found' && Object.keys(read.record)).toEqual(['id', 'profile']);
    expect(read.kind === 'found' && read.record.profile).toEqual({ image: 'a' });
  });

  it('takes null for absent in fields that it relies on', async () => {
    const { client } = setup(() => json(200, { ...box, description: null, updated: null, variables: null }));
    const read = await client.boxes.read('b1');
    expect(read.kind === 'found' && Object.keys(read.record)).toEqual(['id', 'name', 'schema']);
  });

  it('leaves a wrong part out of a list entry, and keeps the entry', async () => {
    const { client } = setup(() =>
      json(200, [
        { id: 'i-1', tags: 'oops', name: 'a' },
        { id: 'i-2', tags: ['t'] },
      ]),
    );
    expect(await client.workspaces.instances('w')).toMatchObject({
      kind: 'found',
      record: [
        { id: 'i-1', name: 'a' },
        { id: 'i-2', tags: ['t'] },
      ],
    });
  });

  it('takes a list with an entry without an id for no answer', async () => {
    const { client } = setup(() => json(200, [{ id: 'i-1' }, { name: 'x' }]));
    expect((await client.workspaces.instances('w')).kind).toBe('unknown');
  });

  it('reads logs as text and activity as lines', async () => {
    const { client, port } = setup((request) =>
      request.path.includes('machine_logs')
        ? raw(200, 'line 1\nline 2')
        : json(200, [{ text: 'go', level: 'start', machine: null }, 'junk']),
    );
    const logs = await client.instances.machineLogs('i-1', { machineName: 'm-1', box: '', event: 'install' });
    expect(logs).toMatchObject({ kind: 'found', record: 'line 1\nline 2' });
    expect(port.requests[0]?.path).toBe(
      '/services/instances/i-1/machine_logs?machine_name=m-1&box=&event=install',
    );
    const activity = await client.instances.activity('i-1');
    expect(activity).toMatchObject({ kind: 'found', record: [{ text: 'go', level: 'start' }] });
  });
});

describe('writes', () => {
  it.each([
    ['200 with the record', json(200, box), { kind: 'ok', record: { id: 'b1' } }],
    ['201 with the record', json(201, box), { kind: 'ok' }],
    ['202 with the record', json(202, box), { kind: 'ok' }],
    ['an empty 200', raw(200), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    ['HTML with 200', raw(200, '<!doctype html>'), { kind: 'unknown', error: { code: 'BadAnswer' } }],
    [
      '400',
      json(400, { message: 'bad' }),
      { kind: 'refused', error: { code: 'BadRequest', class: 'NeedsUser' } },
    ],
    ['401', json(401, {}), { kind: 'refused', error: { code: 'CredentialsRejected' } }],
    ['403', json(403, {}), { kind: 'refused', error: { code: 'Forbidden' } }],
    ['404', json(404, {}), { kind: 'refused', error: { code: 'NotFound' } }],
    ['405', json(405, {}), { kind: 'refused' }],
    ['408', json(408, {}), { kind: 'unknown', error: { code: 'Timeout' } }],
    ['409', json(409, {}), { kind: 'refused', error: { code: 'Conflict', class: 'Conflict' } }],
    ['413', json(413, {}), { kind: 'refused' }],
    ['422', json(422, {}), { kind: 'refused', error: { code: 'BadRequest' } }],
    ['302', raw(302), { kind: 'refused', error: { code: 'Redirected' } }],
    [
      '429',
      json(429, {}, { 'retry-after': '7' }),
      { kind: 'notSent', error: { code: 'Throttled', retryAfterMs: 7_000 } },
    ],
    ['500', json(500, {}), { kind: 'unknown', error: { code: 'ServerError' } }],
    ['503', json(503, {}), { kind: 'unknown', error: { code: 'ServerError' } }],
    ['a reset', broken(), { kind: 'unknown', error: { code: 'Broken' } }],
    [
      'a refused connection',
      new ServiceTransportError('Refused', 'no connection', { maybeSent: false }),
      { kind: 'notSent', error: { code: 'Unreachable', class: 'Retryable' } },
    ],
    [
      'a certificate that is not trusted',
      new ServiceTransportError('Tls', 'not accepted', { maybeSent: false }),
      { kind: 'notSent', error: { code: 'Tls', class: 'NeedsUser' } },
    ],
  ] as const)('takes %s for what it is', async (_, line, expected) => {
    const { client } = setup(() => line);
    expect(await client.boxes.create(boxBody)).toMatchObject(expected);
  });

  // B5
  it('brings back every whole number as it was read, in fields that nobody here knows too', async () => {
    const profile = '{"max_ttl":9007199254740993,"ids":[-18446744073709551616]}';
    const text = `{"id":"b1","name":"web","epoch":1764331200000000001,"profile":${profile}}`;
    const { client, port } = setup(() => raw(200, text, { 'content-type': 'application/json' }));
    const read = await client.boxes.read('b1');
    expect(read).toMatchObject({ kind: 'found', record: { profile: { max_ttl: 9007199254740993n } } });
    if (read.kind === 'found') await client.boxes.update('b1', read.record);
    expect(String(port.requests[1]?.body)).toBe(text);
  });

  it('takes an update without a body for done, and an unreadable one for unknown', async () => {
    const { client } = setup((_, index) => (index === 0 ? raw(202) : raw(200, 'oops')));
    expect(await client.boxes.update('b1', boxBody)).toMatchObject({ kind: 'ok', record: undefined });
    expect(await client.boxes.update('b1', boxBody)).toMatchObject({ kind: 'unknown' });
  });

  it.each([raw(200), raw(202, 'accepted'), json(202, { status: 'ok' }), raw(204)])(
    'takes any answer of the service to an operation for done',
    async (line) => {
      const { client } = setup(() => line);
      expect(await client.instances.operate('i-1', 'poweron')).toMatchObject({
        kind: 'ok',
        record: undefined,
      });
      expect(await client.instances.remove('i-1', 'delete')).toMatchObject({ kind: 'ok' });
      expect(await client.boxes.remove('b1')).toMatchObject({ kind: 'ok' });
    },
  );

  it('hands the record of an operation on, and takes a page in its place for unknown', async () => {
    const { client } = setup((_, index) =>
      index === 0 ? json(202, { id: 'i-1', state: 'processing' }) : raw(200, '<html>'),
    );
    expect(await client.instances.operate('i-1', 'poweron')).toMatchObject({
      record: { state: 'processing' },
    });
    expect(await client.instances.operate('i-1', 'poweron')).toMatchObject({ kind: 'unknown' });
  });

  it('orders the stamps of calls within one tick of the clock', async () => {
    const { client } = setup(() => json(200, box));
    const write = await client.boxes.create(boxBody);
    const read = await client.boxes.read('b1');
    if (write.kind !== 'ok' || read.kind !== 'found') throw new Error('expected success');
    expect(write.startedAt).toBeLessThan(write.endedAt);
    expect(write.endedAt).toBeLessThan(read.startedAt);
    expect(client.stamp()).toBeGreaterThan(read.startedAt);
  });
});

describe('aborts', () => {
  it('rejects with the reason, in the queue and under way', async () => {
    const { client, port } = setup(() => new Promise(() => undefined), { pace: { inFlight: 1 } });
    const abort = new AbortController();
    const reason = new Error('leadership lost');
    const running = client.boxes.read('b1', { signal: abort.signal });
    const queued = client.boxes.read('b1', { signal: abort.signal });
    const rejections = [rejectionOf(running), rejectionOf(queued)];
    await settle();
    abort.abort(reason);
    expect(await Promise.all(rejections)).toEqual([reason, reason]);
    expect(port.requests).toHaveLength(1);
    await expect(client.boxes.read('b1', { signal: abort.signal })).rejects.toBe(reason);
  });

  it('sends nothing when it is aborted at the very moment of its turn', async () => {
    const { client, port } = setup(() => json(200, box));
    const abort = new AbortController();
    const read = client.boxes.read('b1', { signal: abort.signal });
    const rejection = rejectionOf(read);
    abort.abort(new Error('stop'));
    expect(await rejection).toMatchObject({ message: 'stop' });
    expect(port.requests).toHaveLength(0);
  });

  it('gives the probe back when its caller leaves', async () => {
    const { client, clock } = setup((_, index) => {
      if (index < 5) return broken();
      return index === 5 ? new Promise(() => undefined) : json(200, box);
    });
    for (let i = 0; i < 5; i++) await client.boxes.read('b1');
    await clock.advance(1_000);
    const abort = new AbortController();
    const probe = rejectionOf(client.boxes.read('b1', { signal: abort.signal }));
    await settle();
    abort.abort(new Error('stop'));
    expect(await probe).toMatchObject({ message: 'stop' });
    expect((await client.boxes.read('b1')).kind).toBe('found');
  });

  it('ends waiting calls when the client is closed', async () => {
    const { client } = setup(() => new Promise(() => undefined), { pace: { inFlight: 1 } });
    void client.boxes.read('b1');
    const queued = client.boxes.create(boxBody);
    await settle();
    client.close();
    expect(await queued).toMatchObject({ kind: 'notSent', error: { code: 'Closed' } });
  });
});

describe('wear and pace', () => {
  it('stops sending after five failures in a row, says that it did not send, and probes again', async () => {
    let down = true;
    const { client, port, clock } = setup(() => (down ? json(503, { message: 'tired' }) : json(200, box)));
    for (let i = 0; i < 5; i++) await client.boxes.read('b1');
    expect(client.breakerState()).toBe('open');
    const refused = await client.boxes.create(boxBody);
    expect(refused).toMatchObject({
      kind: 'notSent',
      error: { code: 'BreakerOpen', rootCode: 'ServerError', retryAfterMs: 1_000 },
    });
    expect(refused.kind === 'notSent' && refused.error.message).toContain('tired');
    expect(port.requests).toHaveLength(5);
    await clock.advance(1_000);
    expect(client.breakerState()).toBe('halfOpen');
    await client.boxes.read('b1');
    expect(await client.boxes.create(boxBody)).toMatchObject({ error: { retryAfterMs: 2_000 } });
    await clock.advance(2_000);
    down = false;
    expect((await client.boxes.read('b1')).kind).toBe('found');
    expect(client.breakerState()).toBe('closed');
  });

  it('lets one call probe at a time', async () => {
    const last = Promise.withResolvers<PortAnswer>();
    const { client, port, clock } = setup((_, index) => (index < 5 ? broken() : last.promise));
    for (let i = 0; i < 5; i++) await client.boxes.read('b1');
    await clock.advance(1_000);
    const probe = client.boxes.read('b1');
    await clock.advance(0);
    expect(await client.boxes.read('b1')).toMatchObject({ kind: 'unknown', error: { code: 'BreakerOpen' } });
    expect(port.requests).toHaveLength(6);
    last.resolve(json(200, box));
    expect((await probe).kind).toBe('found');
  });

  it('does not wear the breaker with refusals', async () => {
    const { client } = setup(() => json(404, {}));
    for (let i = 0; i < 20; i++) await client.boxes.read('b1');
    expect(client.breakerState()).toBe('closed');
  });

  it('sends nothing while the service asked to wait, then goes on without a burst', async () => {
    const { client, port, clock } = setup((_, index) =>
      index === 0 ? json(429, {}, { 'retry-after': '60' }) : json(200, box),
    );
    expect(await client.boxes.create(boxBody)).toMatchObject({
      kind: 'notSent',
      error: { retryAfterMs: 60_000 },
    });
    expect(await client.boxes.read('b1')).toMatchObject({ kind: 'unknown', error: { class: 'Throttled' } });
    expect(port.requests).toHaveLength(1);
    await clock.advance(60_000);
    const reads = Promise.all([client.boxes.read('b1'), client.boxes.read('b1')]);
    await clock.advance(0);
    expect(port.requests).toHaveLength(2);
    await clock.advance(100);
    expect(port.requests).toHaveLength(3);
    await reads;
  });

  it('reports every call with its template only', async () => {
    const { client, reports } = setup((_, index) => (index === 0 ? json(200, box) : json(404, {})));
    await client.boxes.read('b1');
    await client.boxes.read('b9');
    await client.boxes.read('..');
    expect(reports.map(({ template, status, outcome }) => [template, status, outcome])).toEqual([
      ['/services/boxes/{box_id}', 200, 'ok'],
      ['/services/boxes/{box_id}', 404, 'NotFound'],
      ['/services/boxes/{box_id}', undefined, 'BadId'],
    ]);
  });
});

describe('secrets', () => {
  it('shows no credential, body, query or header in errors and logs', async () => {
    const canary = 'CANARY-7f3a';
    const say = {
      message: `bad token ${canary}-token for ${canary}-var, password ${canary}-pw`,
      token: `${canary}-x`,
    };
    for (const line of [
      json(400, say, { 'set-cookie': `${canary}-cookie` }),
      json(401, say),
      json(500, say),
      raw(200, `<html>${canary}</html>`),
      json(200, { id: 'b1', variables: canary }),
      raw(200, `{"id":"b1","x":${canary}`),
      new TypeError(canary),
    ]) {
      const secrets = new SecretSet();
      secrets.note(`${canary}-var`);
      const { client, logged } = setup(
        (request) => (request.path.endsWith('/token') ? json(200, { token: `${canary}-token` }) : line),
        { credentials: { kind: 'password', email: 'a@b.c', password: `${canary}-pw` }, secrets },
      );
      const results = [
        await client.boxes.read(`b1`),
        await client.boxes.update('b1', { ...boxBody, description: canary }),
        await client.instances.activity('i-1', canary),
      ];
      const shown = JSON.stringify(results.map((result) => ('error' in result ? spill(result.error) : '')));
      expect(shown).not.toContain(canary);
      expect(logged.join('\n')).not.toContain(canary);
    }
  });

  it('cuts and cleans the words of the service', async () => {
    const { client } = setup(() => json(400, { message: `a\u001b[31m\nb\u202e${'x'.repeat(5_000)}` }));
    const result = await client.boxes.create(boxBody);
    const said = result.kind === 'refused' ? result.error.serviceMessage : undefined;
    expect(said).toMatch(/^a \[31m b x+…$/);
    expect(said).toHaveLength(512);
  });

  // S13: what the service says is cut first, and may end in the middle of a secret.
  it('shows no part of a secret that its cut goes through, in any encoding', async () => {
    const secret = 'c4n4ry-0123456789-abcdef';
    for (const quoted of [secret, encodeURIComponent(`ü${secret}`), Buffer.from(secret).toString('base64')]) {
      const secrets = new SecretSet();
      secrets.note(secret);
      for (const length of [490, 500, 505, 511, 2_030, 2_040]) {
        const message = `${'x'.repeat(length)}${quoted}${'y'.repeat(100_000)}`.slice(0, 60_000);
        const { client } = setup(() => json(400, { message }), { secrets });
        const result = await client.boxes.create(boxBody);
        const said = result.kind === 'refused' ? result.error.message : '';
        expect(said).not.toMatch(/c4n4|YzRuN/);
      }
    }
  });

  it('learns the credential and every token that it logs in with', async () => {
    const secrets = new SecretSet();
    const { client } = setup(
      (request) => (request.path.endsWith('/token') ? raw(200, 'tok-9876') : json(200, box)),
      { credentials: { kind: 'password', email: 'a@b.c', password: 'pass-1' }, secrets },
    );
    await client.boxes.read('b1');
    expect(secrets.mask('pass-1 tok-9876 a@b.c')).toBe('**** **** a@b.c');
  });
});

/** Everything that a logger could get out of an error. */
function spill(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return [error.message, error.stack, Object.entries(error), String(error), spill(error.cause)];
}
