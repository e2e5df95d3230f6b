import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { Elector, InvalidElectorOptionsError, LeadershipLostError, type ElectorOptions } from './elector.ts';
import type { LeaseObject } from './lease-record.ts';
import { Metrics } from '../observe/metrics.ts';
import { KubeTransportError, type KubeAnswer, type KubePort, type KubeRequest } from '../port.ts';

/** One Lease behind a port, with the versions and refusals of the API server. */
class LeaseServer {
  lease: LeaseObject | undefined;
  writes: LeaseObject[] = [];
  #version = 0;

  answer(request: KubeRequest): KubeAnswer {
    const body = request.body as LeaseObject | undefined;
    if (request.method === 'POST') {
      if (this.lease !== undefined) return refusal(409, 'AlreadyExists');
      return this.#store(body as LeaseObject, 201);
    }
    if (this.lease === undefined) return refusal(404, 'NotFound');
    if (request.method === 'GET') return { status: 200, headers: {}, body: structuredClone(this.lease) };
    if (body?.metadata.resourceVersion !== this.lease.metadata.resourceVersion)
      return refusal(409, 'Conflict');
    return this.#store(body as LeaseObject, 200);
  }

  #store(body: LeaseObject, status: number): KubeAnswer {
    this.#version += 1;
    this.lease = structuredClone({
      ...body,
      metadata: { ...body.metadata, resourceVersion: String(this.#version) },
    });
    this.writes.push(this.lease);
    return { status, headers: {}, body: structuredClone(this.lease) };
  }
}

function refusal(status: number, reason: string): KubeAnswer {
  return { status, headers: {}, body: { kind: 'Status', code: status, reason, message: reason } };
}

type Fault = 'hang' | 'reset' | 'lost answer' | 503 | undefined;

/** A way to the server that can be broken. */
function portTo(server: LeaseServer, line: { fault: Fault }): KubePort {
  return {
    request(request) {
      switch (line.fault) {
        case 'hang':
          return new Promise((_resolve, reject) => {
            request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error));
          });
        case 'reset':
          return Promise.reject(new KubeTransportError('reset', { maybeSent: true }));
        case 'lost answer':
          server.answer(request);
          return Promise.reject(new KubeTransportError('reset', { maybeSent: true }));
        case 503:
          return Promise.resolve(refusal(503, 'ServiceUnavailable'));
        default:
          return Promise.resolve(server.answer(request));
      }
    },
    watch: () => Promise.reject(new Error('an elector watches nothing')),
  };
}

interface Candidate {
  line: { fault: Fault };
  /** What happened, with monotonic seconds. */
  log: string[];
  stop: AbortController;
  metrics: Metrics;
  elector: Elector;
  outcome: Promise<unknown>;
}

function candidate(
  clock: VirtualClock,
  server: LeaseServer,
  identity: string,
  options: Partial<ElectorOptions> & { drainMs?: number } = {},
): Candidate {
  const line: { fault: Fault } = { fault: undefined };
  const log: string[] = [];
  const stop = new AbortController();
  const metrics = new Metrics();
  const note = (what: string): number => log.push(`${clock.monotonic() / 1_000} ${what}`);
  const elector = new Elector({
    port: portTo(server, line),
    clock,
    random: () => 0,
    namespace: 'system',
    name: 'operator',
    identity,
    metrics,
    ...options,
  });
  const outcome = elector
    .run(stop.signal, async (lost) => {
      note('leads');
      await Promise.race([aborted(stop.signal), aborted(lost)]);
      if (!lost.aborted && options.drainMs !== undefined) await clock.sleep(options.drainMs);
      note(lost.aborted ? 'lost' : 'drained');
    })
    .then(
      () => 'resolved',
      (error: unknown) => error,
    );
  return { line, log, stop, metrics, elector, outcome };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

describe('Elector', () => {
  it('notes at the Lease when its holders began, the last twelve of them', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const options = { startsAnnotation: 'starts' };
    for (let start = 1; start <= 14; start++) {
      const one = candidate(clock, server, `holder-${start}`, options);
      await clock.advance(5_000);
      expect(one.elector.starts.at(-1)).toBe(clock.now() - 5_000);
      one.stop.abort();
      await clock.advance(55_000);
    }
    const starts = server.lease?.metadata.annotations?.['starts']?.split(' ') ?? [];
    expect(starts).toHaveLength(12);
    expect(starts.slice(-2)).toEqual(['2026-01-01T00:12:00.000Z', '2026-01-01T00:13:00.000Z']);
  });

  it('counts nothing that does not read as a time', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const metadata = { name: 'operator', namespace: 'system', resourceVersion: '0' };
    server.lease = { metadata: { ...metadata, annotations: { starts: 'never  soon' } }, spec: {} };
    const one = candidate(clock, server, 'a', { startsAnnotation: 'starts' });
    await clock.advance(0);
    expect(one.elector.starts).toEqual([clock.now()]);
  });

  it('takes a Lease that does not exist, and renews it', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(0);
    expect(a.elector.leading).toBe(true);
    expect(server.lease?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(a.log).toEqual(['0 leads']);
    expect(server.lease?.spec?.renewTime).toBe('2026-01-01T00:01:00.000000Z');
    expect(server.lease?.spec?.acquireTime).toBe('2026-01-01T00:00:00.000000Z');
    expect(await a.metrics.render()).toContain('leader_election_master_status{name="operator"} 1');
  });

  it('says on the Lease what it was told to, and leaves the rest there', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    candidate(clock, server, 'a', { marks: { labels: { leads: 'yes' }, annotations: { version: '1' } } });
    await clock.advance(0);
    expect(server.lease?.metadata.annotations).toEqual({ version: '1' });
    const { metadata } = server.lease ?? { metadata: { name: '' } };
    Object.assign(metadata, { resourceVersion: '99', annotations: { theirs: 'x', version: 'changed' } });
    await clock.advance(4_000);
    expect(server.lease?.metadata).toMatchObject({
      labels: { leads: 'yes' },
      annotations: { theirs: 'x', version: '1' },
    });
  });

  it('waits while another renews, and takes over when the record has stood still for its duration', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(1_000);
    const b = candidate(clock, server, 'b');
    await clock.advance(120_000);
    expect(b.log).toEqual([]);
    a.line.fault = 'reset';
    await clock.advance(60_000);
    expect(a.log).toEqual(['0 leads', '130 lost']);
    expect(b.log).toEqual(['137 leads']);
    expect(server.lease?.spec?.leaseTransitions).toBe(1);
    expect(await a.outcome).toBeInstanceOf(LeadershipLostError);
  });

  it("does not believe the holder's clock, nor its own wall clock", async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const holder = candidate(clock, server, 'a');
    await clock.advance(0);
    // An hour ahead here: by the times in the record the lease would be long over.
    clock.jumpWall(3_600_000);
    const b = candidate(clock, server, 'b');
    await clock.advance(30_000);
    expect(b.log).toEqual([]);
    clock.jumpWall(-7_200_000);
    holder.line.fault = 'hang';
    await clock.advance(60_000);
    expect(holder.log).toEqual(['0 leads', '40 lost']);
    expect(b.log).toEqual(['46 leads']);
  });

  it.each<Fault>(['hang', 'reset', 503])(
    'ends leadership by a timer at the renew deadline while calls answer with: %s',
    async (fault) => {
      const clock = new VirtualClock();
      const a = candidate(clock, new LeaseServer(), 'a');
      await clock.advance(5_000);
      a.line.fault = fault;
      await clock.advance(8_999);
      expect(a.log).toEqual(['0 leads']);
      await clock.advance(1);
      expect(a.log).toEqual(['0 leads', '14 lost']);
      expect(await a.outcome).toMatchObject({ code: 'LeadershipLost' });
      expect(a.elector.leading).toBe(false);
      expect(clock.untilNext()).toBeUndefined();
    },
  );

  it('gets over failures shorter than the renew deadline, lost answers included', async () => {
    const clock = new VirtualClock();
    const a = candidate(clock, new LeaseServer(), 'a');
    await clock.advance(0);
    for (const fault of ['lost answer', 503, 'reset', 'hang'] as const) {
      a.line.fault = fault;
      await clock.advance(4_000);
      a.line.fault = undefined;
      await clock.advance(20_000);
    }
    expect(a.log).toEqual(['0 leads']);
  });

  it('stops at once when it finds another in the record', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(1_000);
    server.answer({
      method: 'PUT',
      path: '',
      body: { ...server.lease, spec: { ...server.lease?.spec, holderIdentity: 'usurper' } },
    });
    await clock.advance(4_000);
    expect(a.log).toEqual(['0 leads', '2 lost']);
    expect(await a.outcome).toMatchObject({ message: expect.stringContaining('held by usurper') as string });
    expect(server.lease?.spec?.holderIdentity).toBe('usurper');
  });

  // H6
  it('stops at once when somebody deleted the Lease', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(1_000);
    server.lease = undefined;
    await clock.advance(10_000);
    expect(a.log).toEqual(['0 leads', '2 lost']);
    expect(await a.outcome).toMatchObject({ message: expect.stringContaining('it is gone') as string });
  });

  it('waits one duration before it makes a Lease that was deleted', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(1_000);
    const b = candidate(clock, server, 'b');
    await clock.advance(0);
    server.lease = undefined;
    // What the first one says does not arrive, and it hears nothing.
    a.line.fault = 'hang';
    const c = candidate(clock, server, 'c', { ledBefore: () => Promise.resolve(true) });
    await clock.advance(15_000);
    expect([a.log, b.log, c.log]).toEqual([['0 leads', '10 lost'], [], []]);
    await clock.advance(6_000);
    expect([...b.log, ...c.log]).toHaveLength(1);
    a.outcome.catch(() => undefined);
  });

  it('keeps renewing while it drains, gives the lease back, and the next one need not wait', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a', { drainMs: 20_000 });
    await clock.advance(1_000);
    const b = candidate(clock, server, 'b');
    await clock.advance(4_000);
    a.stop.abort();
    await clock.advance(19_999);
    expect(a.log).toEqual(['0 leads']);
    expect(b.log).toEqual([]);
    await clock.advance(3_000);
    expect(a.log).toEqual(['0 leads', '25 drained']);
    expect(b.log).toEqual(['25 leads']);
    expect(await a.outcome).toBe('resolved');
    const releases = server.writes.filter(({ spec }) => spec?.holderIdentity === '');
    expect(releases).toHaveLength(1);
    expect(releases[0]?.spec).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 0 });
  });

  it('does not give back what is not its own any more', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const a = candidate(clock, server, 'a');
    await clock.advance(1_000);
    server.answer({
      method: 'PUT',
      path: '',
      body: { ...server.lease, spec: { ...server.lease?.spec, holderIdentity: 'b' } },
    });
    a.stop.abort();
    await clock.advance(1_000);
    expect(server.lease?.spec?.holderIdentity).toBe('b');
  });

  it('ends within its time when the API server does not answer the release', async () => {
    const clock = new VirtualClock();
    const a = candidate(clock, new LeaseServer(), 'a');
    await clock.advance(1_000);
    a.line.fault = 'hang';
    a.stop.abort();
    await clock.advance(5_000);
    expect(await a.outcome).toBe('resolved');
  });

  it('stops waiting for leadership when told to, a call in flight included', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    candidate(clock, server, 'a');
    await clock.advance(0);
    const b = candidate(clock, server, 'b');
    const c = candidate(clock, server, 'c');
    c.line.fault = 'hang';
    await clock.advance(3_000);
    b.stop.abort();
    c.stop.abort();
    await settle();
    expect([await b.outcome, await c.outcome]).toEqual(['resolved', 'resolved']);
  });

  it('never lets two lead at once, whatever fails when', async () => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const faults: Fault[] = [undefined, 'hang', 'reset', 'lost answer', 503, undefined];
    let seed = 7;
    const next = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n;
    const all: Candidate[] = [0, 1, 2].map((i) => candidate(clock, server, `first-${i}`));
    let terms = 0;
    for (let round = 0; round < 400; round++) {
      const i = next(3);
      const one = all[i];
      if (one !== undefined) one.line.fault = faults[next(faults.length)];
      for (let step = 0; step < 4; step++) {
        await clock.advance(250 + next(1_000));
        expect(all.filter(({ elector }) => elector.leading).length).toBeLessThan(2);
      }
      all.forEach((each, j) => {
        if (!each.log.at(-1)?.endsWith('lost')) return;
        terms += 1;
        all[j] = candidate(clock, server, `round-${round}-${j}`);
      });
    }
    expect(terms).toBeGreaterThan(5);
  });

  it('refuses durations that cannot keep two leaders apart', () => {
    expect(() =>
      candidate(new VirtualClock(), new LeaseServer(), 'a', {
        leaseDurationMs: 10_000,
        renewDeadlineMs: 10_000,
      }),
    ).toThrow(InvalidElectorOptionsError);
  });
});
