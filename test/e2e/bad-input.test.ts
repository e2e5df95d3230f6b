import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testCertificate } from '../../src/service/transport/test-certificate.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { loopbackServer, type LoopbackServer } from '../support/loopback-server.ts';
import { BOX_AND_POLICY, instance, RealWorld, TOKEN } from '../support/real-world.ts';

/** A box that needs nothing but its connection. */
function box(name: string, spec = ''): string {
  return `
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec: {connectionRef: {name: main}${spec === '' ? '' : `, ${spec}`}}
`;
}

function leaseFor(name: string, of: string, spec: string): string {
  return `
---
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: ${name}}
spec: {instanceRef: {name: ${of}}, ${spec}}
`;
}

function connection(name: string, endpoint: string, secretName = 'deploy-login'): string {
  return `
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: ${name}}
spec: {endpoint: ${endpoint}, credentialsRef: {name: ${secretName}}}
`;
}

function secret(name: string, data: string): string {
  return `\n---\n{apiVersion: v1, kind: Secret, metadata: {name: ${name}}, stringData: ${data}}\n`;
}

/** A box that contains another one. */
function nesting(name: string, other: string): string {
  return box(name, `variables: [{name: part, type: Box, boxRef: {name: ${other}}}]`);
}

let world: RealWorld;

beforeAll(async () => {
  await installKinds(testCluster());
  world = await RealWorld.start({ poll: { settled: '1s' } });
  await world.put(world.connection() + '---' + BOX_AND_POLICY);
  await Promise.all([world.ready('Box', 'plain'), world.ready('PolicyBox', 'small')]);
});
afterAll(() => world[Symbol.asyncDispose]());

const boxRecords = (): { id: string; name: string; description: string }[] =>
  world.sandbox.admin.records('boxes') as { id: string; name: string; description: string }[];
const instanceRecords = (): { id: string; name: string }[] =>
  world.sandbox.admin.records('instances') as { id: string; name: string }[];

/** Something new gets done: whatever stands wrong beside it stops nobody. */
async function othersWork(name: string): Promise<void> {
  await world.put(box(name));
  await world.ready('Box', name);
}

describe('what the API server refuses', () => {
  it('is told by field, value and next step, and the rest of the same apply goes through', async () => {
    const both = 'connectionRef: {name: main}, policyBoxRef: {name: small}';
    const tooLong = 'a-name-that-the-service-does-not-take';
    const refused = await world.tryApply(
      [
        instance('bad-duration', 'operationTimeout: soon'),
        instance('empty-reference').replace('boxRef: {name: plain}', "boxRef: {name: ''}"),
        `{apiVersion: boxwright.dev/v1alpha1, kind: Instance, metadata: {name: both}, spec: {${both}, boxRef: {name: plain}, boxId: 3f2a}}`,
        instance('long-name', `name: ${tooLong}`),
        instance(tooLong),
        box('beside-the-refused'),
      ].join('\n---\n'),
    );
    expect(refused.code).not.toBe(0);
    for (const words of [
      'spec.operationTimeout: Invalid value: "soon": must be a duration, such as 90s or 8h (units: ms, s, m, h)',
      'spec.boxRef.name: Invalid value',
      'must be the name of a Box: lower-case letters, digits, - and .',
      'set exactly one of boxRef and boxId',
      'spec.name: Too long: may not be more than 30 bytes',
      'the service allows 30 characters in the name of an instance and metadata.name is longer: set a shorter spec.name',
    ]) {
      expect(refused.stderr).toContain(words);
    }
    expect(await world.list('Instance')).toEqual([]);
    await world.ready('Box', 'beside-the-refused');
  });
});

describe('a connection', () => {
  let servers: Record<'html' | 'redirect' | 'tls' | 'elsewhere', LoopbackServer>;
  beforeAll(async () => {
    const html = await loopbackServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html><title>Please log in</title></html>');
    });
    const elsewhere = await loopbackServer((_request, response) => response.end('{}'));
    const redirect = await loopbackServer((_request, response) => {
      response.writeHead(302, { location: elsewhere.url.replace('127.0.0.1', 'localhost') });
      response.end();
    });
    const tls = await loopbackServer((_request, response) => response.end('[]'), testCertificate);
    servers = { html, redirect, tls, elsewhere };
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  });

  it('that does not exist is named by what waits for it', async () => {
    await world.put(box('homeless').replace('name: main', 'name: nowhere'));
    const said = await world.condition('Box', 'homeless', {
      status: 'False',
      reason: 'WaitingForConnection',
    });
    expect(said.message).toMatch(
      /^spec\.connectionRef: Connection "nowhere" does not exist in this namespace: create it/,
    );
    await othersWork('beside-the-homeless');
  });

  it('whose Secret is missing or has other keys says which keys it needs, and goes on when they come', async () => {
    await world.put(connection('no-secret', world.url, 'absent'));
    const missing = await world.condition('Connection', 'no-secret', { reason: 'WaitingForSecret' });
    expect(missing.message).toBe(
      'Secret "absent" does not exist: create it with key token, or keys email and password',
    );
    await world.put(
      secret('odd', '{user: somebody, pass: something}') + connection('wrong-keys', world.url, 'odd'),
    );
    const wrong = await world.condition('Connection', 'wrong-keys', { reason: 'WaitingForSecret' });
    expect(wrong.message).toBe(
      'Secret "odd" has only pass, user: it needs key token, or keys email and password',
    );
    await world.put(secret('absent', `{token: ${TOKEN}}`));
    await world.annotate('Connection', 'no-secret', { 'boxwright.dev/requested-at': 'now' });
    await world.ready('Connection', 'no-secret', 40_000);
  });

  it('whose password or token is wrong says so once, is not hammered, and goes on with the right one', async () => {
    await world.put(
      secret('login', '{email: ops@example.com, password: not-the-password}') +
        connection('wrong-password', world.url, 'login') +
        secret('token', '{token: not-the-token}') +
        connection('wrong-token', world.url, 'token') +
        box('locked-out').replace('name: main', 'name: wrong-password'),
    );
    const said = await world.condition('Connection', 'wrong-password', {
      type: 'Stalled',
      status: 'True',
      reason: 'CredentialsRejected',
    });
    expect(said.message).toMatch(/put valid credentials into the Secret/);
    expect(said.message).not.toContain('not-the-password');
    await world.condition('Connection', 'wrong-password', { type: 'CredentialsValid', status: 'False' });
    await world.condition('Connection', 'wrong-token', { reason: 'CredentialsRejected' });
    const waiting = await world.condition('Box', 'locked-out', { reason: 'WaitingForConnection' });
    expect(waiting.message).toMatch(/"wrong-password" is not ready \(CredentialsRejected\)/);

    const logins = (): number =>
      world.sandbox.admin.calls().filter(({ method, path }) => method === 'PUT' && path.includes('security'))
        .length;
    const before = logins();
    for (const at of ['1', '2', '3']) {
      await world.annotate('Connection', 'wrong-password', { 'boxwright.dev/requested-at': at });
      await eventually(
        'it was looked at',
        async () => (await world.get('Connection', 'wrong-password'))?.status?.lastHandledRequest === at,
      );
    }
    expect(logins()).toBe(before);

    await world.put(secret('login', '{email: ops@example.com, password: password-of-the-tests}'));
    await world.annotate('Connection', 'wrong-password', { 'boxwright.dev/requested-at': 'mended' });
    await world.ready('Connection', 'wrong-password');
    await world.ready('Box', 'locked-out');
  });

  it('to a service that is down, shows a bad certificate, a login page or another host says which', async () => {
    await using closed = await loopbackServer((_request, response) => response.end());
    await closed[Symbol.asyncDispose]();
    await world.put(
      connection('down', closed.url) +
        connection('tls', servers.tls.url) +
        connection('html', servers.html.url) +
        connection('redirect', servers.redirect.url) +
        connection('metadata', 'https://169.254.169.254'),
    );
    const down = await world.condition('Connection', 'down', { reason: 'ServiceUnavailable' });
    expect(down.message).toMatch(/GET \/services\/workspaces/);
    await world.condition('Connection', 'down', { type: 'Reachable', status: 'False' });
    const tls = await world.condition('Connection', 'tls', { reason: 'ServiceUnavailable' });
    expect(tls.message).toMatch(/certificate.*set spec\.tls\.caRef/);
    const html = await world.condition('Connection', 'html', { reason: 'Unknown' });
    expect(html.message).toMatch(/JSON.*check spec\.endpoint/);
    expect(html.message).not.toContain('Please log in');
    const redirect = await world.condition('Connection', 'redirect', { reason: 'NeedsUser' });
    expect(redirect.message).toMatch(/correct spec\.endpoint/);
    expect(servers.elsewhere.requests).toEqual([]);
    const metadata = await world.condition('Connection', 'metadata', { reason: 'NeedsUser' });
    expect(metadata.message).toMatch(
      /spec\.endpoint: endpoint host 169\.254\.169\.254 is not among the allowed/,
    );
    await othersWork('beside-bad-connections');
  });

  it('goes on with a certificate authority of its own', async () => {
    await world.put(
      `\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: ${JSON.stringify(testCertificate.cert)}}}\n`,
    );
    await world.edit('Connection', 'tls', {
      tls: { caRef: { kind: 'ConfigMap', name: 'ca', key: 'ca.crt' } },
    });
    // The little server behind it is no service, so what is asked next is another question.
    const said = await world.condition('Connection', 'tls', { reason: 'NeedsUser' });
    expect(said.message).toMatch(/schemaBase/);
  });
});

describe('references', () => {
  it('that make boxes contain each other are told with their path, until the cycle is broken', async () => {
    await world.put(nesting('snake', 'tail') + nesting('tail', 'snake'));
    const said = await world.condition('Box', 'snake', { type: 'Stalled', reason: 'NeedsUser' });
    expect(said.message).toContain('snake → tail → snake');
    expect(said.message).toMatch(/spec\.variables.*take one of these variables away/);
    await world.condition('Box', 'tail', { reason: 'NeedsUser' });
    await world.edit('Box', 'tail', { variables: [] });
    await world.ready('Box', 'snake');
  });

  it('to a provider that is not ready are waited for, and what was ready before stays so', async () => {
    await using other = await RealWorld.start({ idle: true });
    const id = other.sandbox.admin.records('providers')[0]?.id ?? '';
    other.sandbox.admin.editRecord('providers', id, { state: 'unavailable' });
    await other.startOperator();
    await other.put(other.connection() + '---' + BOX_AND_POLICY);
    const said = await other.condition('PolicyBox', 'small', { reason: 'WaitingForReference' });
    expect(said.message).toMatch(/^spec\.providerId: provider "Test Provider" is unavailable, not ready$/);
    await other.ready('Box', 'plain');
    other.sandbox.admin.editRecord('providers', id, { state: 'ready' });
    await other.ready('PolicyBox', 'small', 40_000);
    other.sandbox.admin.editRecord('providers', id, { state: 'unavailable' });
    await other.annotate('PolicyBox', 'small', { 'boxwright.dev/requested-at': 'now' });
    await eventually('it was looked at', async () => {
      const { status } = await other.ready('PolicyBox', 'small');
      return status?.lastHandledRequest === 'now';
    });
  });

  it('to a ConfigMap key that does not exist are waited for, and the key is taken when it comes', async () => {
    await world.put(
      '{apiVersion: v1, kind: ConfigMap, metadata: {name: scripts}, data: {other.sh: "#!/bin/bash"}}' +
        box('scripted', 'events: {install: {configMapKeyRef: {name: scripts, key: install.sh}}}'),
    );
    const said = await world.condition('Box', 'scripted', { reason: 'WaitingForReference' });
    expect(said.message).toBe('spec.events.install: ConfigMap "scripts" has no key "install.sh"');
    await world.patch('ConfigMap', 'scripts', { data: { 'install.sh': '#!/bin/bash\necho hello\n' } });
    await world.ready('Box', 'scripted');
  });
});

describe('an instance', () => {
  it('whose deploy script exits 1 shows the log and the next step, and is redeployed on request', async () => {
    await world.put(
      box('broken', 'events: {install: {inline: "#!/bin/bash\\necho looking for the disk\\nexit 1\\n"}}') +
        '---' +
        instance('breaks').replace('name: plain', 'name: broken'),
    );
    const said = await world.condition('Instance', 'breaks', { type: 'Stalled', reason: 'OperationFailed' });
    expect(said.message).toMatch(/deploy failed/);
    expect(said.message).toMatch(/install/);
    expect(said.message).toMatch(/exit.* 1/i);
    expect(said.message).toMatch(/boxwright\.dev\/request-redeploy/);
    expect(instanceRecords()).toHaveLength(1);
    const shown = await world.get('Instance', 'breaks');
    expect(shown?.status?.lastOperation).toMatchObject({ event: 'deploy', outcome: 'Failed' });

    await world.edit('Box', 'broken', { events: { install: { inline: '#!/bin/bash\necho fine\n' } } });
    await world.ready('Box', 'broken');
    await world.annotate('Instance', 'breaks', { 'boxwright.dev/request-redeploy': '1' });
    await world.ready('Instance', 'breaks');
    expect(instanceRecords()).toHaveLength(1);
    await world.delete('Instance', 'breaks');
    await world.gone('Instance', 'breaks');
  });

  it('keeps its first lease; a second one, or one in the past, says why it has no effect', async () => {
    await world.put(instance('leased') + leaseFor('first', 'leased', 'operation: Shutdown, after: 8h'));
    await Promise.all([world.ready('Instance', 'leased'), world.ready('InstanceLease', 'first')]);
    const before = (await world.get('Instance', 'leased'))?.status?.lease;
    await world.put(leaseFor('second', 'leased', 'operation: Terminate, after: 1h'));
    const second = await world.condition('InstanceLease', 'second', { type: 'Conflict', status: 'True' });
    expect(second.message).toBe('Instance "leased" has the lease "first" already: delete one of the two');
    await world.ready('Instance', 'leased');
    await world.ready('InstanceLease', 'first');
    expect((await world.get('Instance', 'leased'))?.status?.lease).toEqual(before);
    await world.delete('InstanceLease', 'second');
    await world.edit('InstanceLease', 'first', { after: null, expireAt: '2020-01-01T00:00:00Z' });
    const past = await world.condition('InstanceLease', 'first', { reason: 'Refused' });
    expect(past.message).toMatch(/spec\.expireAt is in the past.*set a later time/);
    expect((await world.get('Instance', 'leased'))?.status?.phase).toBe('Online');
    await world.edit('InstanceLease', 'first', { expireAt: null, after: '9h' });
    await Promise.all([world.ready('Instance', 'leased'), world.ready('InstanceLease', 'first')]);
  });
});

describe('one record', () => {
  it('that two resources want stays with the first, and both can be deleted (B07)', async () => {
    await world.put(box('owner'));
    const { status } = await world.ready('Box', 'owner');
    const id = status?.id ?? '';
    await world.put(
      box('thief').replace('{name: thief}', `{name: thief, annotations: {boxwright.dev/adopt: ${id}}}`),
    );
    const said = await world.condition('Box', 'thief', { type: 'Stalled', reason: 'Conflict' });
    expect(said.message).toMatch(/^Box "owner" holds this box: delete one of the two/);
    await world.put(
      box('forger').replace(
        '{name: forger}',
        `{name: forger, annotations: {boxwright.dev/external-id: ${id}}}`,
      ),
    );
    const forged = await world.condition('Box', 'forger', { reason: 'Conflict' });
    expect(forged.message).toMatch(/to take that record over, set boxwright\.dev\/adopt/);
    await world.edit('Box', 'owner', { description: 'Still mine' });
    await world.ready('Box', 'owner');
    expect(boxRecords().find((record) => record.id === id)).toMatchObject({
      name: 'owner',
      description: 'Still mine',
    });
    await world.delete('Box', 'thief');
    await world.delete('Box', 'forger');
    await Promise.all([world.gone('Box', 'thief'), world.gone('Box', 'forger')]);
    expect(boxRecords().some((record) => record.id === id)).toBe(true);
  });

  it('whose name somebody else has is not made, and taking it over is suggested', async () => {
    await world.put(box('namesake'));
    const { status } = await world.ready('Box', 'namesake');
    await world.put(box('late', 'name: namesake'));
    const said = await world.condition('Box', 'late', { type: 'Stalled', reason: 'NameTaken' });
    // Found in the list, or refused at the renaming when the list was read before: either way it says so.
    expect(said.message).toMatch(
      /(has this name already|is taken on the service): choose another spec\.name, or /,
    );
    expect(said.message).toMatch(/adopt/);
    expect(boxRecords().filter(({ name }) => name === 'namesake')).toEqual([
      expect.objectContaining({ id: status?.id }),
    ]);
    await world.delete('Box', 'late');
    await world.gone('Box', 'late');
    expect(boxRecords().filter(({ name }) => name === 'namesake' || name.startsWith('bw-'))).toHaveLength(1);
  });
});

describe('a stored object that an older schema let through', () => {
  it('is named by field and value, keeps its record, and stops nobody (B13)', async () => {
    await world.put(instance('aged', 'forceTerminateAfter: 15m'));
    await world.ready('Instance', 'aged');
    const crd = 'crd/instances.boxwright.dev';
    const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/forceTerminateAfter';
    // Only this field's schema, and only for a moment: other tests use the same kind.
    await world.do(
      'patch',
      crd,
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'replace', path: at, value: { type: 'string' } }]),
    );
    try {
      await eventually('the loose schema is served', async () => {
        await world.edit('Instance', 'aged', { forceTerminateAfter: 'later' });
        return true;
      });
    } finally {
      await installKinds(world.cluster);
    }
    const said = await world.condition('Instance', 'aged', { type: 'Stalled', reason: 'NeedsUser' });
    expect(said.message).toMatch(
      /does not fit its schema: spec\.forceTerminateAfter is "later": must be a duration/,
    );
    expect(instanceRecords().some(({ name }) => name === 'aged')).toBe(true);
    await world.put(instance('young'));
    await world.ready('Instance', 'young');
    await world.edit('Instance', 'aged', { forceTerminateAfter: '15m' });
    await world.ready('Instance', 'aged');
  });
});
