import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { EVENTS, type KubeObject } from '../../src/kube/index.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { leaks, type Places } from '../support/leaks.ts';
import { LogCapture } from '../support/log-capture.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';
import { typeOfKind } from '../support/world.ts';

const KINDS = ['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const;

/** Secrets that must show up nowhere, by what they are. */
const CANARIES = {
  token: 't7Q2w9e-Kx81mPw-c4n',
  password: 'p8R3x0f-Zq72nRv-c4n',
  variable: 'v9S4y1g-Wd63oTu-c4n',
  override: 'o1T5z2h-Yf54pSs-c4n',
  file: 'f2U6a3i-Vh45qQr-c4n',
} as const;

async function look(world: RealWorld, log: LogCapture): Promise<Places> {
  const status: Record<string, string> = {};
  for (const kind of KINDS) {
    for (const { metadata, status: said } of await world.list(kind)) {
      const { annotations, finalizers } = metadata;
      status[`${kind}/${metadata.name}`] = JSON.stringify({ said, annotations, finalizers });
    }
  }
  const events = await Promise.all(
    [world.namespace, world.home].map((namespace) => world.client.list<KubeObject>(EVENTS, { namespace })),
  );
  return {
    ...status,
    events: JSON.stringify(events),
    metrics: (await world.metrics?.render()) ?? '',
    'log fields and errors': log.raw.join('\n'),
    'log as written': log.written.join(''),
  };
}

beforeAll(async () => {
  await installKinds(testCluster());
});

describe('secrets', () => {
  it('show up in no log, error, event, status or metric, and one that leaks is found (B11)', async () => {
    const log = new LogCapture(systemClock);
    await using world = await RealWorld.start({
      log,
      idle: true,
      sandbox: { account: { email: 'ops@example.com', password: CANARIES.password, token: CANARIES.token } },
    });
    const { admin } = world.sandbox;
    // What it was sent by then: no more can be known.
    const quoting = `refused: token ${CANARIES.token}`;
    const quotingMore = `${quoting}, ${CANARIES.variable}, ${CANARIES.override}`;
    admin.addFault({ match: { route: '/services/workspaces' }, status: 500, message: quoting, times: 2 });
    admin.addFault({
      match: { method: 'POST', route: '/services/security/token' },
      status: 401,
      message: `refused: password ${CANARIES.password}`,
      // One refusal is doubted.
      times: 2,
    });
    admin.addFault({
      match: { method: 'PUT', route: '/services/boxes/{box_id}' },
      status: 503,
      message: `${quoting}, ${CANARIES.variable}`,
      times: 2,
    });
    admin.addFault({
      match: { method: 'POST', route: '/services/instances' },
      status: 400,
      message: quotingMore,
      times: 1,
    });
    admin.addFault({
      match: { method: 'GET', route: '/services/instances/{instance_id}' },
      body: 'truncated',
      times: 1,
      skip: 2,
    });
    await world.startOperator();
    // Only a value that was read before the service quotes it can be known as a secret: this one comes first.
    await world.put(`
apiVersion: v1
kind: Secret
metadata: {name: by-password}
stringData: {email: ops@example.com, password: ${CANARIES.password}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: by-password}
spec: {endpoint: ${world.url}, credentialsRef: {name: by-password}}
`);
    await world.condition('Connection', 'by-password', { reason: 'CredentialsRejected' });
    await world.put(
      world.connection(CANARIES.token) +
        `
---
apiVersion: v1
kind: Secret
metadata: {name: inner}
stringData: {variable: ${CANARIES.variable}, override: ${CANARIES.override}, file: ${CANARIES.file}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: holder}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  variables:
  - {name: PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: inner, key: variable}}}
  - {name: KEYS, type: File, file: {secretKeyRef: {name: inner, key: file}}}
  events:
    install: {inline: "#!/bin/bash\\necho logging in with ${CANARIES.override} and ${CANARIES.variable}\\nexit 1\\n"}
---` +
        BOX_AND_POLICY,
    );
    await Promise.all([world.ready('Box', 'holder'), world.ready('PolicyBox', 'small')]);
    const secretVariable =
      'variables: [{name: PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: inner, key: override}}}]';
    await world.put(instance('talks', secretVariable).replace('name: plain', 'name: holder'));
    // Refused once with a message that quotes; then a deploy whose activity quotes.
    await world.condition('Instance', 'talks', { reason: 'Refused' });
    await world.annotate('Instance', 'talks', { 'boxwright.dev/requested-at': 'now' });
    await world.edit('Instance', 'talks', { tags: ['again'] });
    const failed = await world.condition('Instance', 'talks', { reason: 'OperationFailed' });
    expect(failed.message).toContain('logging in with');
    admin.revokeTokens();
    await world.condition('Connection', 'main', { reason: 'CredentialsRejected' });
    await eventually('events are written', async () =>
      JSON.stringify(await world.client.list<KubeObject>(EVENTS, { namespace: world.namespace })).includes(
        'OperationFailed',
      ),
    );

    // What the service made up itself: tokens of machines and of the running service.
    const made = [...JSON.stringify(admin.records('instances')).matchAll(/"token":"([^"]{8,})"/g)];
    expect(made).not.toEqual([]);
    const canaries = {
      ...CANARIES,
      ...Object.fromEntries(made.map(([, token], at) => [`token ${at} of the service`, String(token)])),
    };
    const seen = await look(world, log);
    expect(log.raw.length).toBeGreaterThan(20);
    for (const text of Object.values(seen)) expect(text).not.toBe('');
    expect(leaks(seen, canaries)).toEqual([]);

    // The same look finds one that leaks, wherever it does.
    const cause = Object.assign(new Error('x'), {
      request: { headers: { 'service-token': CANARIES.token } },
    });
    log.debug({ err: new Error('cannot log in', { cause }) }, 'planted');
    log.info({ note: `uploading ${CANARIES.file}` }, 'planted');
    world.metrics?.events.inc({ outcome: CANARIES.password });
    await world.client.mergePatch(
      typeOfKind('Box'),
      { namespace: world.namespace, name: 'holder' },
      { status: { uri: `/services/boxes/${CANARIES.variable}` } },
      { subresource: 'status' },
    );
    await world.client.create(EVENTS, {
      metadata: { namespace: world.namespace, name: 'planted' },
      eventTime: new Date().toISOString().replace('Z', '000Z'),
      type: 'Normal',
      reason: 'Planted',
      action: 'Plant',
      reportingController: 'test',
      reportingInstance: 'test',
      note: Buffer.from(CANARIES.override).toString('base64'),
      regarding: { kind: 'Namespace', name: world.namespace, namespace: world.namespace },
    });
    const found = leaks(await look(world, log), canaries);
    expect(found).toEqual(
      expect.arrayContaining([
        'Box/holder: variable',
        'events: override',
        'metrics: password',
        'log fields and errors: token',
        'log fields and errors: file',
        'log as written: file',
      ]),
    );
  });
});
