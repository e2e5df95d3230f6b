import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { json, loopbackServer, type LoopbackServer } from '../../../test/support/loopback-server.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { HttpProxy } from '../../base/proxy/settings.ts';
import { startTestProxy, type TestProxy } from '../../base/proxy/test-proxy.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Authority } from '../../devcluster/pki/authority.ts';
import { KubeTransportError } from '../port.ts';
import type { ClusterAccess } from './auth.ts';
import { UndiciKubePort } from './undici-port.ts';

/** A name that only the proxy knows. */
const HOST = 'kubernetes.invalid';
const get = { method: 'GET', path: '/version' } as const;

let folder: string;
let authority: Authority;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kube-tunnel-'));
  authority = Authority.open(folder, systemClock);
});
afterAll(() => rmSync(folder, { recursive: true }));

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function proxy(refuse?: number): Promise<TestProxy> {
  const started = await startTestProxy(refuse);
  cleanups.push(() => started.stop());
  return started;
}

async function apiServer(): Promise<LoopbackServer> {
  const server = await loopbackServer(
    (_request, response) => json(response, 200, { gitVersion: 'v1' }),
    authority.server([HOST]),
  );
  cleanups.push(() => server[Symbol.asyncDispose]() as Promise<void>);
  return server;
}

function portTo(access: () => ClusterAccess, clock: Clock = systemClock): UndiciKubePort {
  const port = new UndiciKubePort({ source: { access: async () => access() }, clock });
  cleanups.push(() => port.close());
  return port;
}

function through(port: number, login: string): HttpProxy {
  return HttpProxy.parse(`http://${login}@127.0.0.1:${port}`, 'proxy-url of cluster c');
}

function accessTo(server: LoopbackServer, by: HttpProxy): ClusterAccess {
  const { port } = new URL(server.url);
  return {
    server: `https://${HOST}:${port}`,
    headers: { authorization: 'Bearer CANARY-token' },
    tls: { ca: authority.cert },
    proxy: by,
  };
}

it('calls and watches go through tunnels of the proxy, which sees the host and its own credentials only', async () => {
  const [server, via] = [await apiServer(), await proxy()];
  const access = accessTo(server, through(via.port, 'me:secret'));
  const port = portTo(() => access);
  for (let i = 0; i < 3; i++) expect((await port.request(get)).body).toEqual({ gitVersion: 'v1' });
  (await port.watch(get)).close();
  const line = `CONNECT ${HOST}:${new URL(server.url).port}`;
  expect(new Set(via.asked.map((each) => each.line))).toEqual(new Set([line]));
  expect(via.asked).toHaveLength(server.connections);
  expect(via.asked[0]?.authorization).toBe(`Basic ${btoa('me:secret')}`);
  expect(JSON.stringify(via.asked)).not.toContain('CANARY');
  expect(server.requests).toHaveLength(4);
  expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer CANARY-token' });
  expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
});

it('the certificate has to be the API server’s own', async () => {
  const [server, via] = [await apiServer(), await proxy()];
  const access = { ...accessTo(server, through(via.port, 'me:secret')), tls: {} };
  const port = portTo(() => access);
  await expect(port.request(get)).rejects.toMatchObject({ maybeSent: false });
  expect(server.requests).toEqual([]);
});

it.each([
  [407, /asks for other credentials \(407\): put user and password into proxy-url of cluster c$/],
  [403, /does not let \S+ through \(403\): have it allowed there, or take proxy-url of cluster c away$/],
])('a proxy that refuses with %i is told with the next step, and nothing was sent', async (status, words) => {
  const [server, via] = [await apiServer(), await proxy(status)];
  const access = accessTo(server, through(via.port, 'me:CANARY-password'));
  const port = portTo(() => access);
  const error: unknown = await port.request(get).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(KubeTransportError);
  expect(error).toMatchObject({ maybeSent: false, message: expect.stringMatching(words) });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('CANARY');
  expect(server.requests).toEqual([]);
});

it('new credentials of the proxy are used from the next look at the kubeconfig on', async () => {
  const [server, via, clock] = [await apiServer(), await proxy(), new VirtualClock()];
  let login = 'me:old';
  const port = portTo(() => accessTo(server, through(via.port, login)), clock);
  await port.request(get);
  login = 'me:new';
  await clock.advance(60_001);
  await port.request(get);
  expect(via.asked.map(({ authorization }) => authorization)).toEqual(
    ['me:old', 'me:new'].map((each) => `Basic ${btoa(each)}`),
  );
});
