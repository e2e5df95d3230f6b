import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import {
  Controller,
  DrainTimeoutError,
  ReconcileDeadlineError,
  type ControllerOptions,
} from './controller.ts';
import { Metrics } from '../observe/metrics.ts';

function make(options: Pick<ControllerOptions, 'reconcile'> & Partial<ControllerOptions>): {
  clock: VirtualClock;
  controller: Controller;
  metrics: Metrics;
  stop: AbortController;
  abort: AbortController;
  ended: Promise<void>;
} {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const controller = new Controller({
    name: 'thing',
    clock,
    random: () => 0,
    metrics,
    workers: 2,
    ...options,
  });
  const stop = new AbortController();
  const abort = new AbortController();
  return { clock, controller, metrics, stop, abort, ended: controller.run(stop.signal, abort.signal) };
}

/** Settles `ended` on a virtual clock, and says whether it did. */
async function hasEnded(ended: Promise<void>): Promise<boolean> {
  let over = false;
  void ended.then(() => (over = true));
  await settle();
  return over;
}

describe('Controller', () => {
  it('calls reconcile for an added key and again when the result says so', async () => {
    const at: number[] = [];
    const { clock, controller } = make({
      reconcile: async () => {
        at.push(clock.monotonic());
        return at.length === 1 ? { requeueAfterMs: 5_000 } : undefined;
      },
    });
    controller.queue.add('ns/a');
    await clock.advance(60_000);
    expect(at).toEqual([0, 5_000]);
  });

  it('tries a failing key again after a growing wait, counts it, and starts over after a success', async () => {
    const at: number[] = [];
    const failures: number[] = [];
    const { clock, controller, metrics } = make({
      backoff: { firstMs: 100, longestMs: 10_000 },
      reconcile: async (_key, context) => {
        at.push(clock.monotonic());
        failures.push(context.failures);
        if (at.length <= 3) throw new Error('no');
      },
    });
    controller.queue.add('ns/a');
    await clock.advance(60_000);
    expect(at).toEqual([0, 100, 300, 700]);
    expect(failures).toEqual([0, 1, 2, 3]);
    expect(controller.queue.failures('ns/a')).toBe(0);
    const text = await metrics.render();
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="thing"} 3');
    expect(text).toContain('controller_runtime_reconcile_total{controller="thing",result="success"} 1');
  });

  it('keeps the other keys going while one fails, even with a function that throws at once', async () => {
    const done: string[] = [];
    const { clock, controller } = make({
      reconcile: (key) => {
        if (key === 'bad') throw new Error('not even a promise');
        done.push(key);
        return Promise.resolve();
      },
    });
    for (const key of ['bad', 'a', 'b', 'c']) controller.queue.add(key);
    await clock.advance(1_000);
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('never runs more passes at once than it has workers, and a key only once at a time', async () => {
    let running = 0;
    let most = 0;
    const perKey = new Map<string, number>();
    const { clock, controller } = make({
      workers: 3,
      reconcile: async (key) => {
        running += 1;
        most = Math.max(most, running);
        perKey.set(key, (perKey.get(key) ?? 0) + 1);
        expect(perKey.get(key)).toBe(1);
        await clock.sleep(10);
        perKey.set(key, 0);
        running -= 1;
      },
    });
    for (let i = 0; i < 30; i++) {
      controller.queue.add(`k${i % 5}`);
      await clock.advance(3);
    }
    await clock.advance(1_000);
    expect(most).toBe(3);
  });

  it('ends a pass at its deadline and tries the key again', async () => {
    const reasons: unknown[] = [];
    const { clock, controller } = make({
      deadlineMs: 1_000,
      reconcile: async (_key, { signal }) => {
        if (reasons.length > 0) return;
        await clock.sleep(3_600_000, signal).catch((error: unknown) => {
          reasons.push(error);
          throw error;
        });
      },
    });
    controller.queue.add('ns/slow');
    await clock.advance(10_000);
    expect(reasons).toEqual([expect.any(ReconcileDeadlineError)]);
    expect(controller.queue.working).toEqual([]);
  });

  it('does not count the time that a pass waits for its turn', async () => {
    const { clock, controller, metrics } = make({
      deadlineMs: 1_000,
      reconcile: async (_key, { priority, signal }) => {
        for (let i = 0; i < 3; i++) {
          await priority.inLine(clock.sleep(600_000, signal));
          await clock.sleep(300, signal);
        }
      },
    });
    controller.queue.add('ns/patient');
    await clock.advance(3_600_000);
    expect(controller.queue.working).toEqual([]);
    expect(await metrics.render()).not.toContain('controller_runtime_reconcile_errors_total{');
  });

  it('leaves behind a pass that ignores its signal: others go on, its key stays its own', async () => {
    const started: string[] = [];
    const stuck: { release?: () => void } = {};
    const { clock, controller } = make({
      workers: 1,
      deadlineMs: 1_000,
      graceMs: 500,
      reconcile: async (key) => {
        started.push(key);
        if (key === 'stuck' && started.length === 1)
          await new Promise<void>((resolve) => (stuck.release = resolve));
      },
    });
    controller.queue.add('stuck');
    controller.queue.add('other');
    await clock.advance(1_499);
    expect(started).toEqual(['stuck']);
    await clock.advance(1);
    expect(started).toEqual(['stuck', 'other']);
    controller.queue.add('stuck');
    await clock.advance(10_000);
    expect(started).toEqual(['stuck', 'other']);
    stuck.release?.();
    await settle();
    expect(started).toEqual(['stuck', 'other', 'stuck']);
  });

  it('drains: begins nothing new, lets what runs finish, and then ends', async () => {
    const log: string[] = [];
    const { clock, controller, ended, stop } = make({
      workers: 1,
      reconcile: async (key) => {
        await clock.sleep(3_000);
        log.push(key);
      },
    });
    controller.queue.add('running');
    controller.queue.add('waiting');
    await clock.advance(1_000);
    stop.abort();
    expect(await hasEnded(ended)).toBe(false);
    await clock.advance(2_000);
    expect(await hasEnded(ended)).toBe(true);
    expect(log).toEqual(['running']);
  });

  it('aborts what has not finished when draining takes too long', async () => {
    let reason: unknown;
    const { clock, controller, ended, stop } = make({
      drainMs: 5_000,
      reconcile: (_key, { signal }) =>
        clock.sleep(3_600_000, signal).catch((error: unknown) => {
          reason = error;
        }),
    });
    controller.queue.add('a');
    await settle();
    stop.abort();
    await clock.advance(4_999);
    expect(reason).toBeUndefined();
    await clock.advance(1);
    expect(reason).toBeInstanceOf(DrainTimeoutError);
    expect(await hasEnded(ended)).toBe(true);
  });

  it('ends even when a pass never does', async () => {
    const { clock, controller, ended, stop } = make({
      drainMs: 5_000,
      graceMs: 1_000,
      reconcile: () => new Promise<void>(() => undefined),
    });
    controller.queue.add('a');
    await settle();
    stop.abort();
    await clock.advance(5_999);
    expect(await hasEnded(ended)).toBe(false);
    await clock.advance(1);
    expect(await hasEnded(ended)).toBe(true);
  });

  it('aborts every pass at once when leadership is lost', async () => {
    const lost = new Error('lost');
    const reasons: unknown[] = [];
    const { abort, clock, controller, ended, metrics } = make({
      reconcile: (_key, { signal }) =>
        clock.sleep(3_600_000, signal).catch((error: unknown) => {
          reasons.push(error);
          throw error;
        }),
    });
    controller.queue.add('a');
    controller.queue.add('b');
    await settle();
    abort.abort(lost);
    expect(await hasEnded(ended)).toBe(true);
    expect(reasons).toEqual([lost, lost]);
    // Not the fault of the keys.
    expect(await metrics.render()).not.toContain('controller_runtime_reconcile_errors_total{');
  });
});
