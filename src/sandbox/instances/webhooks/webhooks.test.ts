import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { settle } from '../../../base/virtual-clock.ts';
import { ok, startFixture, type Fixture } from '../../fixture.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Hook {
  machine: { name: string; schema: string };
  service: { profile: { network: string } };
  instance: { operation: string; variables: unknown };
}

/** A receiver that answers with what `answer` makes of a call. */
async function receiver(answer: (hook: Hook) => object | undefined): Promise<{ url: string; seen: Hook[] }> {
  const seen: Hook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const hook = JSON.parse(Buffer.concat(chunks).toString()) as Hook;
      seen.push(hook);
      const body = answer(hook);
      if (body === undefined) response.writeHead(500).end();
      else response.end(JSON.stringify(body));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, seen };
}

async function hooked(webhooks: string[]): Promise<Fixture> {
  const fixture = await startFixture();
  const path = '/services/organizations/public';
  const body = await ok(fixture.call('GET', path));
  await ok(fixture.call('PUT', path, { ...body, webhooks }));
  return fixture;
}

async function until({ call, clock }: Fixture, uri: string, done: (body: never) => boolean): Promise<never> {
  for (;;) {
    await clock.advance(500);
    const { body } = await call('GET', uri);
    if (done(body as never)) return body as never;
    await settle(10);
  }
}

const over = (body: { state: string }): boolean => body.state !== 'processing';

test.each([
  ['a list of networks', { instance_networks: [{ ipv4_address: '10.1.2.3', subnet_mask: '255.0.0.0' }] }],
  ['flat fields', { ipv4_address: '10.1.2.3', subnet_mask: '255.0.0.0', dns_suffixes: ['x'] }],
])('gives machines the address that the webhook answers as %s', async (_, customization) => {
  const { url, seen } = await receiver(({ machine, instance }) =>
    instance.operation === 'terminate' ? {} : { ...machine, customization },
  );
  const fixture = await hooked([url]);
  const { call, deployable, deploy, sandbox } = fixture;
  const profile = { schema: `${sandbox.schemaBase}/test/compute/profile`, network: 'lan', instances: 2 };
  const variables = [{ name: 'A', type: 'Text', value: '1', required: false, visibility: 'public' }];
  const created = await deploy(await deployable({}, { variables }, { profile }));
  await until(fixture, created.uri, over);
  const { machines } = await ok(call('GET', `${created.uri}/service`));
  expect(machines).toMatchObject([
    { address: { private: '10.1.2.3', networks: [{ subnet_mask: '255.0.0.0' }] } },
    { address: { private: '10.1.2.3' } },
  ]);
  expect(seen).toMatchObject([
    {
      machine: { name: `${created.service.id}-1`, schema: expect.stringContaining('/test/') },
      service: { profile: { network: 'lan' } },
      instance: { operation: 'deploy', variables: [{ name: 'A', value: '1' }] },
    },
    { machine: { name: `${created.service.id}-2` } },
  ]);
  await ok(call('DELETE', `${created.uri}?operation=terminate`));
  await until(fixture, created.uri, over);
  expect(seen.slice(2).map((hook) => hook.instance.operation)).toEqual(['terminate', 'terminate']);
});

test('tries again, then fails the deploy and says why in the activity', async () => {
  const { url, seen } = await receiver(() => undefined);
  const fixture = await hooked([url]);
  const { call, deployable, deploy } = fixture;
  const created = await deploy(await deployable());
  const failed = await until(fixture, created.uri, over);
  expect(failed).toMatchObject({ state: 'unavailable', operation: { event: 'deploy' } });
  expect(seen).toHaveLength(3);
  const texts = (await ok(call('GET', `${created.uri}/activity`))).map((line: { text: string }) => line.text);
  expect(texts.join('\n')).toContain('no answer in 3 tries (it answered 500)');
});

test('calls no host that is not allowed', async () => {
  const fixture = await hooked(['http://intranet.example/hook']);
  const { call, deployable, deploy } = fixture;
  const created = await deploy(await deployable());
  await until(fixture, created.uri, over);
  const texts = (await ok(call('GET', `${created.uri}/activity`))).map((line: { text: string }) => line.text);
  expect(texts.join('\n')).toContain('host intranet.example is not allowed');
});
