import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { Elector, LeadershipLostError } from '../../src/kube/leader/elector.ts';
import type { LeaseObject } from '../../src/kube/leader/lease-record.ts';
import { UndiciKubePort } from '../../src/kube/transport/undici-port.ts';
import { LEASES } from '../../src/kube/types.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { FaultProxy, type Fault } from '../support/fault-proxy.ts';

/** A third of the defaults, so that a term ends within the patience of a test. */
const TIMES = { leaseDurationMs: 5_000, renewDeadlineMs: 3_500, retryPeriodMs: 500, graceMs: 1_000 };
const EVERY_CALL = 1_000_000;

const cluster = testCluster();
let namespace: TestNamespace;
let direct: UndiciKubePort;
let client: KubeClient;
const candidates: Candidate[] = [];

beforeAll(async () => {
  namespace = await cluster.namespace('elector');
  const { server, ca, cert, key } = cluster;
  direct = new UndiciKubePort({
    source: { access: async () => ({ server, headers: {}, tls: { ca, cert, key } }) },
    clock: systemClock,
  });
  client = new KubeClient(direct, { clock: systemClock, random: Math.random });
});
afterEach(async () => {
  await Promise.all(candidates.splice(0).map((one) => one.end()));
});
afterAll(async () => {
  await direct.close();
  await namespace.cleanup();
});

interface Candidate {
  proxy: FaultProxy;
  elector: Elector;
  stop: AbortController;
  /** When each term began and ended, monotonic milliseconds; an open term has no end. */
  terms: { from: number; to?: number }[];
  outcome: Promise<unknown>;
  end(): Promise<void>;
}

async function candidate(name: string, identity: string): Promise<Candidate> {
  const proxy = await FaultProxy.start(cluster);
  const port = new UndiciKubePort({
    source: { access: async () => ({ server: proxy.url, headers: {}, tls: {} }) },
    clock: systemClock,
  });
  const elector = new Elector({
    ...TIMES,
    port,
    clock: systemClock,
    random: Math.random,
    namespace: namespace.name,
    name,
    identity,
  });
  const stop = new AbortController();
  const terms: Candidate['terms'] = [];
  const outcome = elector
    .run(stop.signal, async (lost) => {
      const term: { from: number; to?: number } = { from: systemClock.monotonic() };
      terms.push(term);
      await Promise.race([aborted(stop.signal), aborted(lost)]);
      term.to = systemClock.monotonic();
    })
    .then(
      () => 'resolved',
      (error: unknown) => error,
    );
  const made: Candidate = {
    proxy,
    elector,
    stop,
    terms,
    outcome,
    async end() {
      stop.abort();
      await outcome;
      await port.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
  candidates.push(made);
  return made;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function leaseName(): string {
  return `operator-${randomBytes(3).toString('hex')}`;
}

const read = (name: string): Promise<LeaseObject | undefined> =>
  client.get<LeaseObject>(LEASES, { namespace: namespace.name, name });

describe('Elector on a real API server', () => {
  it('lets one of two lead, and the other at once when the first gives the lease back', async () => {
    const name = leaseName();
    const a = await candidate(name, 'a');
    await eventually('a leads', () => a.elector.leading);
    const b = await candidate(name, 'b');
    const before = await read(name);
    await eventually('a renews', async () => (await read(name))?.spec?.renewTime !== before?.spec?.renewTime);
    expect(before?.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 5, leaseTransitions: 0 });
    expect(b.elector.leading).toBe(false);
    a.stop.abort();
    expect(await a.outcome).toBe('resolved');
    const released = systemClock.monotonic();
    await eventually('b leads', () => b.elector.leading);
    // Its next look, not the end of the lease.
    expect(systemClock.monotonic() - released).toBeLessThan(TIMES.leaseDurationMs);
    expect((await read(name))?.spec).toMatchObject({ holderIdentity: 'b' });
  });

  it.each<{ what: string; fault: Fault }>([
    { what: 'reset before the effect', fault: { kind: 'reset' } },
    { what: 'reset after the effect', fault: { kind: 'reset', after: true } },
    { what: 'no answer', fault: { kind: 'hang' } },
    { what: 'no answer after the effect', fault: { kind: 'hang', after: true } },
    { what: 'slow', fault: { kind: 'delay', ms: 500 } },
    { what: '429', fault: { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 } },
    { what: '500', fault: { kind: 'status', status: 500, reason: 'InternalError' } },
    { what: '503', fault: { kind: 'status', status: 503, reason: 'ServiceUnavailable' } },
    { what: 'cut answer', fault: { kind: 'cut', bytes: 20 } },
  ])('keeps leading over one renewal with: $what', async ({ fault }) => {
    const name = leaseName();
    const a = await candidate(name, 'a');
    await eventually('a leads', () => a.elector.leading);
    a.proxy.inject({ method: 'PUT', fault });
    await eventually('the fault has struck', () => a.proxy.calls.some((call) => call.fault === fault.kind));
    const struck = await read(name);
    await eventually('a renews again', async () => {
      const now = await read(name);
      return now?.metadata.resourceVersion !== struck?.metadata.resourceVersion;
    });
    expect(a.terms).toHaveLength(1);
    expect(a.elector.leading).toBe(true);
  });

  it.each<{ what: string; fault: Fault }>([
    { what: 'reset', fault: { kind: 'reset' } },
    { what: 'black hole', fault: { kind: 'hang' } },
    { what: '503', fault: { kind: 'status', status: 503, reason: 'ServiceUnavailable' } },
  ])('ends its work before another begins when nothing gets through: $what', async ({ fault }) => {
    const name = leaseName();
    const a = await candidate(name, 'a');
    await eventually('a leads', () => a.elector.leading);
    const b = await candidate(name, 'b');
    a.proxy.inject({ fault, times: EVERY_CALL });
    expect(await a.outcome).toBeInstanceOf(LeadershipLostError);
    await eventually('b leads', () => b.elector.leading);
    const ended = a.terms[0]?.to;
    const began = b.terms[0]?.from;
    expect(ended).toBeLessThan(began ?? 0);
    expect((await read(name))?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });
});
