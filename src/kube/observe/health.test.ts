import { afterEach, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { systemClock } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { EventLoopWatch, HealthServer, silentWatchCheck, type HealthCheck } from './health.ts';
import { Metrics } from './metrics.ts';

const servers: HealthServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(checks: {
  live?: HealthCheck;
  ready?: HealthCheck;
  note?: HealthCheck;
}): Promise<{ url: string; metrics: Metrics }> {
  const metrics = new Metrics();
  const server = new HealthServer({
    port: 0,
    live: { loop: checks.live ?? (() => undefined) },
    ready: { synced: checks.ready ?? (() => undefined) },
    ...(checks.note === undefined ? {} : { notes: { secrets: checks.note } }),
    metrics,
  });
  servers.push(server);
  return { url: await server.listen(), metrics };
}

async function get(url: string, method: 'GET' | 'POST' = 'GET'): Promise<{ status: number; text: string }> {
  const answer = await request(url, { method });
  return { status: answer.statusCode, text: await answer.body.text() };
}

describe('HealthServer', () => {
  it('listens on loopback unless told otherwise', async () => {
    expect((await serve({})).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('answers 200 while all is well and 503 with the reason when not, live and ready apart', async () => {
    const found: { problem?: string } = {};
    const { url } = await serve({ ready: () => found.problem });
    expect(await get(`${url}/readyz`)).toEqual({ status: 200, text: '[+] synced ok\nok\n' });
    found.problem = 'waiting for the first list of Thing';
    expect(await get(`${url}/readyz?verbose`)).toEqual({
      status: 503,
      text: '[-] synced: waiting for the first list of Thing\nfailed\n',
    });
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });

  it('serves metrics in the text format of Prometheus', async () => {
    const { metrics, url } = await serve({});
    metrics.reconcileErrors.inc({ controller: 'thing' });
    const { status, text } = await get(`${url}/metrics`);
    expect(status).toBe(200);
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="thing"} 1');
  });

  it('shows what works less well than it was told to, and is ready all the same', async () => {
    const found: { problem?: string } = { problem: 'may not list Secrets' };
    const { url } = await serve({ note: () => found.problem });
    expect(await get(`${url}/readyz`)).toEqual({
      status: 200,
      text: '[+] synced ok\n[!] secrets: may not list Secrets\nok\n',
    });
    expect((await get(`${url}/healthz`)).text).not.toContain('secrets');
    delete found.problem;
    expect((await get(`${url}/readyz`)).text).toBe('[+] synced ok\nok\n');
  });

  it('serves nothing else', async () => {
    const { url } = await serve({});
    expect((await get(`${url}/debug`)).status).toBe(404);
    expect((await get(`${url}/healthz`, 'POST')).status).toBe(405);
  });

  it('rejects when its address is taken', async () => {
    const { url } = await serve({});
    const second = new HealthServer({
      port: Number(new URL(url).port),
      live: {},
      ready: {},
      metrics: new Metrics(),
    });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('silentWatchCheck', () => {
  it('names the watch that gave no sign of life for too long, and is well again after one', async () => {
    const clock = new VirtualClock();
    const things = { type: { kind: 'Thing' }, lastActivity: 0 };
    const others = { type: { kind: 'Other' }, lastActivity: 0 };
    await clock.advance(1_000_000);
    const check = silentWatchCheck([things, others], clock, 360_000);
    await clock.advance(360_000);
    expect(check()).toBeUndefined();
    others.lastActivity = clock.monotonic();
    await clock.advance(1);
    expect(check()).toBe('no sign of life for more than 360 s from the watch of Thing');
    things.lastActivity = clock.monotonic();
    expect(check()).toBeUndefined();
  });
});

describe('EventLoopWatch', () => {
  it('notices timers that come late', async () => {
    let stalledMs = 0;
    const virtual = new VirtualClock();
    // The virtual clock is never late: lateness is time that passed beyond what it knows.
    const clock = {
      ...systemClock,
      setTimer: virtual.setTimer.bind(virtual),
      monotonic: () => virtual.monotonic() + stalledMs,
    };
    const watch = new EventLoopWatch(clock, { limitMs: 5_000 });
    watch.start();
    await virtual.advance(3_000);
    expect(watch.check()).toBeUndefined();
    stalledMs = 8_000;
    expect(watch.check()).toBe('the event loop was blocked for 7000 ms');
    await virtual.advance(1_000);
    expect(watch.check()).toBe('the event loop was blocked for 8000 ms');
    await virtual.advance(1_000);
    expect(watch.check()).toBeUndefined();
    watch.stop();
    expect(virtual.untilNext()).toBeUndefined();
  });
});
