import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Breaker } from './breaker.ts';
import type { Ticket } from './breaker.ts';

function setup() {
  const clock = new VirtualClock();
  const breaker = new Breaker<string>({ failures: 3, clock, random: () => 0 });
  const enter = (): Ticket => {
    const entry = breaker.enter();
    if (entry.kind === 'open') throw new Error(`open for ${entry.retryAfterMs}`);
    return entry.ticket;
  };
  const failTimes = (times: number): void => {
    for (let i = 0; i < times; i++) breaker.failed(enter(), `failure ${i}`);
  };
  return { clock, breaker, enter, failTimes };
}

describe('the breaker', () => {
  it('opens after failures in a row only', () => {
    const { breaker, enter, failTimes } = setup();
    failTimes(2);
    breaker.succeeded(enter());
    failTimes(2);
    expect(breaker.state()).toBe('closed');
    failTimes(1);
    expect(breaker.enter()).toEqual({ kind: 'open', retryAfterMs: 1_000, cause: 'failure 0' });
  });

  it('waits twice as long after each failed probe, five minutes at most', async () => {
    const { clock, breaker, enter, failTimes } = setup();
    failTimes(3);
    const waits: number[] = [];
    for (let i = 0; i < 11; i++) {
      const wait = breaker.refusal()?.retryAfterMs ?? 0;
      waits.push(wait);
      await clock.advance(wait);
      breaker.failed(enter(), 'again');
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((s) => s * 1_000));
  });

  it('jitters its waits upwards', () => {
    for (const [random, wait] of [
      [0, 1_000],
      [1, 1_200],
    ] as const) {
      const breaker = new Breaker<string>({ failures: 1, clock: new VirtualClock(), random: () => random });
      const entry = breaker.enter();
      if (entry.kind === 'go') breaker.failed(entry.ticket, 'x');
      expect(breaker.refusal()?.retryAfterMs).toBe(wait);
    }
  });

  it('starts with the short wait again once a probe succeeded', async () => {
    const { clock, breaker, enter, failTimes } = setup();
    failTimes(3);
    await clock.advance(1_000);
    failTimes(1);
    await clock.advance(2_000);
    breaker.succeeded(enter());
    expect(breaker.state()).toBe('closed');
    failTimes(3);
    expect(breaker.refusal()?.retryAfterMs).toBe(1_000);
  });

  it('is not moved by calls that began before it opened', async () => {
    const { clock, breaker, enter, failTimes } = setup();
    const [late, later] = [enter(), enter()];
    failTimes(3);
    breaker.succeeded(late);
    expect(breaker.state()).toBe('open');
    await clock.advance(1_000);
    breaker.succeeded(enter());
    breaker.failed(later, 'old news');
    failTimes(2);
    expect(breaker.state()).toBe('closed');
  });

  it('gives the probe to the next when the first tells nothing', async () => {
    const { clock, breaker, enter, failTimes } = setup();
    failTimes(3);
    await clock.advance(1_000);
    const probe = enter();
    expect(breaker.enter().kind).toBe('open');
    breaker.undecided(probe);
    expect(breaker.enter().kind).toBe('go');
  });
});
