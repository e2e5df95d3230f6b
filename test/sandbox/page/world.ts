import { VirtualClock } from '../../../src/base/virtual-clock.ts';
import { ok, startFixture, type Answered, type Fixture } from '../../../src/sandbox/fixture.ts';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { formatTime } from '../../../src/sandbox/time.ts';

type Body = Answered['body'];

/** A service with what a small team has after some weeks, on a clock that stands still. */
export interface World extends Fixture {
  clock: VirtualClock;
  url: string;
  web: Body;
  small: Body;
  /** By name. */
  instances: Readonly<Record<string, Body>>;
  /** Uploads scripts, makes a box of them and returns it as it is then. */
  makeBox: (
    name: string,
    more?: { scripts?: Record<string, string>; box?: object; owner?: string },
  ) => Promise<Body>;
}

const START = Date.UTC(2026, 8, 14, 8, 30);

/** Makes the world and opens its ports. */
export async function startWorld(options: SandboxOptions = {}, port = 0): Promise<World> {
  const clock = new VirtualClock(START);
  const fixture = await startFixture({ ...options, clock });
  const { call, deploy, sandbox, upload } = fixture;
  const makeBox: World['makeBox'] = async (name, { scripts = {}, box = {}, owner } = {}) => {
    const schema = `${sandbox.schemaBase}/boxes/script`;
    const made = await ok(
      call('POST', '/services/boxes', {
        schema,
        name,
        requirements: ['Linux'],
        ...(owner === undefined ? {} : { owner }),
      }),
    );
    const events: Record<string, unknown> = {};
    for (const [event, text] of Object.entries(scripts))
      events[event] = await upload(`${name}-${event}.sh`, text);
    return ok(call('PUT', made.uri, { ...made, events, ...box }));
  };
  const policyBox = async (name: string, instances: number, more: object = {}): Promise<Body> =>
    ok(
      call('POST', '/services/boxes', {
        schema: `${sandbox.schemaBase}/boxes/policy`,
        name,
        provider_id: '00000000-0000-4000-8000-000000000001',
        profile: {
          schema: `${sandbox.schemaBase}/test/compute/profile`,
          flavor: 'test.micro',
          location: 'Simulated Location',
          instances,
        },
        claims: ['Linux'],
        ...more,
      }),
    );

  const runtime = await makeBox('runtime', {
    scripts: { install: '#!/bin/bash\necho "installing the runtime"\n' },
    box: {
      description: 'Runtime that front ends share',
      variables: [{ name: 'WORKERS', type: 'Number', value: '2' }],
    },
  });
  const database = await makeBox('database', {
    scripts: { install: 'echo "initializing the cluster"\n', start: 'echo "accepting connections"\n' },
    box: {
      description: 'PostgreSQL with nightly dumps',
      variables: [{ name: 'DB_PORT', type: 'Port', value: '5432' }],
    },
    owner: 'shop',
  });
  const conf = await upload('web.conf', 'server_tokens off;\nkeepalive_timeout 65;\n');
  const web = await makeBox('web', {
    scripts: {
      install:
        '#!/bin/bash\nset -euo pipefail\necho "installing the front end"\necho "fetching release 4.2.0"\n',
      configure: '#!/bin/bash\necho "listening on port $PORT"\n',
      start: '#!/bin/bash\necho "up after 1.2 s"\n',
    },
    box: {
      description: 'Front end of the shop',
      variables: [
        { name: 'PORT', type: 'Port', value: '8080', required: true },
        { name: 'ADMIN_PASSWORD', type: 'Password', value: 'k3pt-to-myself', visibility: 'private' },
        { name: 'CONF', type: 'File', value: conf.url },
        { name: 'runtime', type: 'Box', value: runtime.id },
        { name: 'database', type: 'Binding', value: database.id },
      ],
    },
  });
  await ok(
    call('PUT', web.uri, {
      ...web,
      version: { number: { major: 1, minor: 0, patch: 0 }, description: 'First release' },
    }),
  );
  await ok(
    call('PUT', web.uri, {
      ...web,
      version: { number: { major: 1, minor: 1, patch: 0 }, description: 'Faster start' },
    }),
  );
  const worker = await makeBox('worker', {
    scripts: { start: 'echo "no queue to read from"\nexit 3\n' },
    box: { description: 'Reads orders from the queue' },
  });
  const small = await policyBox('small', 1, { description: 'One small machine' });
  const wide = await policyBox('three machines', 3, { description: 'Three machines behind an address' });

  const instances: Record<string, Body> = {};
  const make = async (name: string, box: Body, policy: Body, more: object = {}): Promise<void> => {
    instances[name] = await deploy({ box, policy }, { name, ...more });
    await clock.advance(60_000);
  };
  const until = (hours: number, operation: string): object => ({
    lease: {
      operation,
      expire: formatTime(clock.now() + hours * 3_600_000),
    },
  });
  await make('orders-db', database, small, { owner: 'shop', instance_tags: ['shop', 'production'] });
  await make('web-eu', web, wide, {
    owner: 'shop',
    instance_tags: ['shop', 'production', 'eu'],
    ...until(300, 'shutdown'),
    box: {
      id: web.id,
      variables: [
        { name: 'PORT', value: '443' },
        { name: 'database', value: instances['orders-db'].id },
      ],
    },
  });
  await make('web-us', web, wide, { owner: 'shop', instance_tags: ['shop', 'us'] });
  await make('web-staging', web, small, until(30, 'shutdown'));
  await make('preview-1841', web, small, until(3, 'terminate'));
  await make('preview-1838', web, small, until(76, 'terminate'));
  await make('orders-worker', worker, small, { owner: 'shop' });
  await make('load-test', web, wide, until(1, 'terminate'));
  await make('playground', runtime, small);
  await ok(call('PUT', `${instances['web-staging'].uri}/shutdown`));
  await clock.advance(10_000);
  await ok(call('PUT', `${instances['web-us'].uri}/reinstall`));
  await clock.advance(10_000);
  await ok(
    call('POST', '/services/providers', {
      schema: `${sandbox.schemaBase}/aws/provider`,
      type: 'Amazon Web Services',
      name: 'Production account',
      credentials: { key: 'AKIA0', secret: 'none' },
    }),
  );
  await clock.advance(5_000);
  const organization = await ok(call('GET', '/services/organizations/public'));
  await ok(
    call('PUT', '/services/organizations/public', {
      ...organization,
      domains: ['example.com'],
      tags: [
        { name: 'team', type: 'Custom', value: 'shop' },
        { name: 'owner', type: 'Workspace', value: null },
      ],
    }),
  );
  await make('preview-1850', web, small, until(8, 'terminate'));
  // One that is under way when somebody looks.
  instances['preview-1852'] = await deploy(
    { box: web, policy: small },
    { name: 'preview-1852', ...until(8, 'terminate') },
  );
  await clock.advance(2_000);
  const { url } = await sandbox.start({ port });
  return { ...fixture, url, web, small, instances, makeBox };
}
