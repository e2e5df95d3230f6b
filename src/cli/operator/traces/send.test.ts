import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { readProxySettings } from '../../../base/proxy/settings.ts';
import { startTestProxy } from '../../../base/proxy/test-proxy.ts';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { sendTo, type CollectorOptions } from './send.ts';
import type { SendTraces } from './span-exporter.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Collector {
  endpoint: URL;
  seen: { line: string; headers: IncomingHttpHeaders }[];
}

async function collector(answer: (response: ServerResponse) => void): Promise<Collector> {
  const seen: Collector['seen'] = [];
  const server = createServer((request, response) => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    request.resume().on('end', () => answer(response));
  });
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { endpoint: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/otlp/`), seen };
}

function sender(
  endpoint: URL,
  options: Partial<CollectorOptions> = {},
): (body: string) => ReturnType<SendTraces> {
  const send = sendTo({ endpoint, userAgent: 'test', clock: systemClock, ...options });
  return (body) => send(body, new AbortController().signal);
}

it('posts JSON to its place below the endpoint', async () => {
  const { endpoint, seen } = await collector((response) => response.end('{}'));
  expect(await sender(endpoint)('{}')).toEqual({ kind: 'taken' });
  expect(seen.map(({ line }) => line)).toEqual(['POST /otlp/v1/traces']);
  expect(seen[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'test' });
});

it.each([307, 400, 401, 404, 413, 500, 501])(
  '%i is a refusal, and no redirect is followed',
  async (status) => {
    const { endpoint, seen } = await collector((response) =>
      response.writeHead(status, { location: '/elsewhere', 'retry-after': '1' }).end('no'),
    );
    expect(await sender(endpoint)('{}')).toEqual({
      kind: 'refused',
      why: `the collector at ${endpoint.host} answered ${status}`,
    });
    expect(seen).toHaveLength(1);
  },
);

it.each([
  [429, '7', 7_000],
  [502, undefined, undefined],
  [503, 'Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
  [504, 'soon', undefined],
  [503, 'Wed, 31 Dec 2025 23:00:00 GMT', 0],
])('%i with Retry-After %s asks for another try', async (status, retryAfter, afterMs) => {
  const { endpoint } = await collector((response) =>
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end(),
  );
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  expect(await sender(endpoint, { clock })('{}')).toEqual({
    kind: 'busy',
    why: `the collector at ${endpoint.host} answered ${status}`,
    ...(afterMs === undefined ? {} : { afterMs }),
  });
});

it('gives up a collector that does not answer', async () => {
  const { endpoint, seen } = await collector(() => undefined);
  const clock = new VirtualClock();
  const sent = sender(endpoint, { clock })('{}').catch((error: unknown) => error);
  await eventually('it was asked', () => seen.length > 0);
  await clock.advance(5_000);
  expect(await sent).toMatchObject({
    message: `the collector at ${endpoint.host} did not answer within 5000 ms`,
  });
});

it('waits no longer for the end of an answer', async () => {
  let begun = false;
  const { endpoint } = await collector(
    (response) => void response.writeHead(200).write('{', () => (begun = true)),
  );
  const clock = new VirtualClock();
  const sent = sender(endpoint, { clock })('{}');
  let settled = false;
  const settle = (): void => void (settled = true);
  void sent.then(settle, settle);
  await eventually('the answer has begun', () => begun);
  await eventually('it is over', async () => {
    await clock.advance(1_000);
    return settled;
  });
  expect(await sent).toEqual({ kind: 'taken' });
});

it('goes through the proxy of the scheme, and around it where NO_PROXY says so', async () => {
  const { endpoint, seen } = await collector((response) => response.end('{}'));
  const proxy = await startTestProxy();
  closers.push(() => proxy.stop());
  const env = { HTTP_PROXY: `http://me:CANARY@127.0.0.1:${proxy.port}` };
  // A name that only the proxy knows.
  const far = new URL(endpoint);
  far.hostname = 'collector.invalid';
  const through = sender(far, { proxies: readProxySettings(env) });
  expect(await through('{}')).toEqual({ kind: 'taken' });
  expect(proxy.asked).toMatchObject([
    { line: `POST ${far.href}v1/traces`, authorization: `Basic ${btoa('me:CANARY')}` },
  ]);
  expect(seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  const around = sender(far, { proxies: readProxySettings({ ...env, NO_PROXY: '.invalid' }) });
  const error: unknown = await around('{}').catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
  await proxy.stop();
  const down: unknown = await through('{}').catch((caught: unknown) => caught);
  expect(inspect(down, { depth: 9 })).not.toContain('CANARY');
});
