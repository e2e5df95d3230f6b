import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../base/virtual-clock.ts';
import { Controller } from './work/controller.ts';
import { Elector, LeadershipLostError } from './leader/elector.ts';
import { Manager, type ManagerOptions, type Runner, type Source } from './manager.ts';
import { Metrics } from './observe/metrics.ts';
import type { KubePort, KubeRequest } from './port.ts';
import { EventRecorder } from './observe/recorder.ts';

class FakeSource implements Source {
  readonly type = { kind: 'Thing' };
  readonly synced: Promise<void>;
  hasSynced = false;
  lastActivity = 0;
  markSynced: () => void = () => undefined;
  readonly #log: string[];

  constructor(log: string[]) {
    this.#log = log;
    this.synced = new Promise((resolve) => {
      this.markSynced = () => {
        this.hasSynced = true;
        resolve();
      };
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#log.push('source starts');
    await aborted(signal);
    this.#log.push('source stops');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function runner(log: string[], name = 'runner'): Runner {
  return {
    name,
    async run(stop, abort) {
      log.push(`${name} starts`);
      await Promise.race([aborted(stop), aborted(abort)]);
      log.push(`${name} ${abort.aborted ? 'aborted' : 'stops'}`);
    },
  };
}

/** Takes every write of leases and events, and logs it. */
function port(log: string[], line: { down: boolean } = { down: false }): KubePort {
  let lease: { spec: { holderIdentity: string } } | undefined;
  return {
    request(call: KubeRequest) {
      if (line.down) return Promise.resolve({ status: 503, headers: {}, body: {} });
      if (call.path.includes('/events')) log.push('event sent');
      else if (call.method !== 'GET') {
        lease = call.body as typeof lease;
        if (lease?.spec.holderIdentity === '') log.push('lease given back');
      }
      if (call.method === 'GET' && lease === undefined) {
        const body = {
          kind: 'Status',
          code: 404,
          reason: 'NotFound',
          message: 'leases "operator" not found',
        };
        return Promise.resolve({ status: 404, headers: {}, body });
      }
      return Promise.resolve({ status: 200, headers: {}, body: structuredClone(lease) });
    },
    watch: () => Promise.reject(new Error('not here')),
  };
}

function start(options: Partial<ManagerOptions> & { clock: VirtualClock }): {
  stop: AbortController;
  outcome: Promise<unknown>;
} {
  const stop = new AbortController();
  const manager = new Manager({ metrics: new Metrics(), sources: [], runners: [], ...options });
  const outcome = manager.run(stop.signal).then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return { stop, outcome };
}

const lease = { namespace: 'system', name: 'operator', identity: 'me', random: () => 0 };

describe('Manager', () => {
  it('starts runners only once every source is in sync, and stops sources last', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const source = new FakeSource(log);
    const { outcome, stop } = start({ clock, sources: [source], runners: [runner(log)] });
    await clock.advance(60_000);
    expect(log).toEqual(['source starts']);
    source.markSynced();
    await settle();
    expect(log).toEqual(['source starts', 'runner starts']);
    stop.abort();
    await settle();
    expect(await outcome).toBe('resolved');
    expect(log).toEqual(['source starts', 'runner starts', 'runner stops', 'source stops']);
    expect(clock.untilNext()).toBeUndefined();
  });

  it('ends when told to before anything was in sync', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const { outcome, stop } = start({ clock, sources: [new FakeSource(log)], runners: [runner(log)] });
    await settle();
    stop.abort();
    expect(await outcome).toBe('resolved');
    expect(log).toEqual(['source starts', 'source stops']);
  });

  it('drains in order: work in flight, then its events, then the lease', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const kube = port(log);
    const elector = new Elector({ ...lease, port: kube, clock });
    const recorder = new EventRecorder({
      port: kube,
      clock,
      random: () => 0,
      reportingController: 'example.com/operator',
      reportingInstance: 'me',
    });
    const controller = new Controller({
      name: 'thing',
      clock,
      random: () => 0,
      reconcile: async (key) => {
        await clock.sleep(3_000);
        log.push(`${key} done`);
        recorder.event({
          regarding: { apiVersion: 'v1', kind: 'Thing', namespace: 'shop', name: key, uid: key },
          type: 'Normal',
          reason: 'Done',
          action: 'Reconcile',
          note: 'done',
        });
      },
    });
    const { outcome, stop } = start({ clock, runners: [controller], elector, recorder });
    controller.queue.add('a');
    await clock.advance(1_000);
    stop.abort();
    controller.queue.add('b');
    await clock.advance(1_000);
    expect(log).toEqual([]);
    await clock.advance(10_000);
    expect(await outcome).toBe('resolved');
    expect(log).toEqual(['a done', 'event sent', 'lease given back']);
  });

  it('aborts all work and rejects when leadership is lost', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const line = { down: false };
    const elector = new Elector({ ...lease, port: port(log, line), clock });
    const { outcome } = start({ clock, runners: [runner(log, 'a'), runner(log, 'b')], elector });
    await clock.advance(5_000);
    line.down = true;
    await clock.advance(20_000);
    expect(await outcome).toBeInstanceOf(LeadershipLostError);
    expect(log).toEqual(['a starts', 'b starts', 'a aborted', 'b aborted']);
  });

  it('stops the other runners in good order when one fails, and rejects with its error', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const failure = new Error('no such CRD');
    const bad: Runner = { name: 'bad', run: () => Promise.reject(failure) };
    const { outcome } = start({ clock, runners: [runner(log, 'good'), bad] });
    await settle();
    expect(await outcome).toBe(failure);
    expect(log).toEqual(['good starts', 'good stops']);
  });

  it('is ready once in sync and not ready any more while it drains; alive until a watch falls silent', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const source = new FakeSource(log);
    let url = '';
    const slow: Runner = {
      name: 'slow',
      run: (stop) => aborted(stop).then(() => clock.sleep(1_000)),
    };
    const { outcome, stop } = start({
      clock,
      sources: [source],
      runners: [slow],
      health: { port: 0, onListening: (at) => (url = at) },
    });
    await expect.poll(() => url).not.toBe('');
    const status = async (path: string): Promise<number> => {
      const answer = await request(`${url}${path}`);
      await answer.body.dump();
      return answer.statusCode;
    };
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503]);
    source.markSynced();
    await settle();
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
    await clock.advance(360_001);
    expect(await status('/healthz')).toBe(503);
    source.lastActivity = clock.monotonic();
    expect(await status('/healthz')).toBe(200);
    stop.abort();
    await settle();
    expect(await status('/readyz')).toBe(503);
    await clock.advance(1_000);
    expect(await outcome).toBe('resolved');
    await expect(request(`${url}/healthz`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
