import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { rejectionOf } from '../scripted-port.ts';
import { Priority, type Lane } from '../../base/priority.ts';
import { Pace } from './pace.ts';
import type { Permit } from './pace.ts';

function setup(options: { requestsPerSecond?: number; burst?: number; inFlight?: number } = {}) {
  const clock = new VirtualClock();
  const pace = new Pace({
    requestsPerSecond: 10,
    burst: 2,
    inFlight: 100,
    clock,
    random: () => 0,
    ...options,
  });
  const granted: string[] = [];
  const permits: Permit[] = [];
  const ask = async (name: string, lane: Lane | Priority = 'normal', signal?: AbortSignal): Promise<void> => {
    const turn = await pace.acquire(typeof lane === 'string' ? new Priority(lane) : lane, signal);
    granted.push(turn.kind === 'granted' ? name : `${name} ${turn.kind}`);
    if (turn.kind === 'granted') permits.push(turn.permit);
  };
  return { clock, pace, granted, permits, ask };
}

describe('the budget', () => {
  it('lets a burst through and then keeps its rate', async () => {
    const { clock, granted, ask } = setup();
    for (let i = 0; i < 5; i++) void ask(String(i));
    await settle();
    expect(granted).toEqual(['0', '1']);
    await clock.advance(99);
    expect(granted).toHaveLength(2);
    await clock.advance(1);
    expect(granted).toHaveLength(3);
    await clock.advance(200);
    expect(granted).toHaveLength(5);
  });

  it('saves no more than the burst', async () => {
    const { clock, granted, ask } = setup();
    await clock.advance(60_000);
    for (let i = 0; i < 5; i++) void ask(String(i));
    await settle();
    expect(granted).toHaveLength(2);
  });

  it('keeps the cap of calls in flight', async () => {
    const { granted, permits, ask } = setup({ burst: 100, inFlight: 2 });
    for (let i = 0; i < 4; i++) void ask(String(i));
    await settle();
    expect(granted).toEqual(['0', '1']);
    permits[0]?.release();
    permits[0]?.release();
    await settle();
    expect(granted).toEqual(['0', '1', '2']);
  });

  it('gives the token of an unsent call back', async () => {
    const { granted, permits, ask } = setup({ burst: 1 });
    void ask('a');
    void ask('b');
    await settle();
    permits[0]?.refund();
    await settle();
    expect(granted).toEqual(['a', 'b']);
  });

  it('puts an edit before what is begun, that before what is new, and that before a periodic look', async () => {
    const { clock, granted, ask } = setup({ burst: 1 });
    void ask('first');
    void ask('periodic', 'periodic');
    void ask('normal', 'normal');
    void ask('new', 'new');
    void ask('edit', 'edit');
    await clock.advance(400);
    expect(granted).toEqual(['first', 'edit', 'normal', 'new', 'periodic']);
  });

  it('lets nothing starve for ever', async () => {
    const { clock, granted, permits, ask } = setup({ requestsPerSecond: 1, burst: 1 });
    void ask('first');
    void ask('look', 'periodic');
    for (let i = 0; i < 400; i++) {
      void ask('new', 'new');
      await clock.advance(1_000);
      for (const permit of permits) permit.release();
    }
    expect(granted).toContain('look');
  });

  it('gives an edit the next turn, however many creations wait', async () => {
    const { clock, granted, ask } = setup({ burst: 1, inFlight: 1_000 });
    for (let i = 0; i < 200; i++) void ask(`creation ${i}`, 'new');
    await clock.advance(10_000);
    void ask('edit', 'edit');
    await clock.advance(100);
    expect(granted.at(-1)).toBe('edit');
  });

  it('looks for ends between creations, turn about, and lets a periodic look in within seconds', async () => {
    const { clock, granted, ask } = setup({ burst: 1 });
    for (let i = 0; i < 400; i++) void ask(`creation ${i}`, 'new');
    for (let i = 0; i < 200; i++) void ask(`end ${i}`, 'normal');
    void ask('look', 'periodic');
    await clock.advance(3_000);
    expect(granted).toContain('look');
    expect(granted.filter((name) => name.startsWith('end')).length).toBeGreaterThanOrEqual(13);
  });

  it('moves a waiter up whose work has become urgent', async () => {
    const { clock, granted, ask } = setup({ burst: 1 });
    const priority = new Priority('periodic');
    for (let i = 0; i < 50; i++) void ask('creation', 'new');
    void ask('look that became an edit', priority);
    priority.raise('edit');
    await clock.advance(100);
    expect(granted.at(-1)).toBe('look that became an edit');
  });

  it('lets work that has had a turn take turns with what has had none', async () => {
    const { clock, granted, ask } = setup({ burst: 1, inFlight: 1_000 });
    const begun = new Priority('normal');
    await ask('first call', begun);
    for (let i = 0; i < 100; i++) void ask(`other ${i}`);
    void ask('second call', begun);
    await clock.advance(200);
    expect(granted).toContain('second call');
  });

  it('forgets a waiter that was aborted', async () => {
    const { clock, granted, ask } = setup({ burst: 1 });
    void ask('a');
    const abort = new AbortController();
    const left = rejectionOf(ask('b', 'normal', abort.signal));
    void ask('c');
    abort.abort(new Error('stop'));
    expect(await left).toMatchObject({ message: 'stop' });
    await clock.advance(100);
    expect(granted).toEqual(['a', 'c']);
  });
});

describe('a pause that the service asks for', () => {
  it('is waited for when short', async () => {
    const { clock, pace, granted, ask } = setup();
    pace.throttled(2_000);
    void ask('a');
    await clock.advance(1_999);
    expect(granted).toEqual([]);
    await clock.advance(1);
    expect(granted).toEqual(['a']);
  });

  it('sends callers away when long, those that wait already too', async () => {
    const { pace, granted, ask } = setup({ inFlight: 0 });
    void ask('a');
    pace.throttled(30_000);
    await settle();
    expect(granted).toEqual(['a paused']);
    expect(await pace.acquire(new Priority('new'))).toEqual({ kind: 'paused', retryAfterMs: 30_000 });
  });

  it('grows when the service names no time, and shrinks again after a good answer', async () => {
    const { clock, pace } = setup();
    const lengths: number[] = [];
    for (let i = 0; i < 8; i++) {
      lengths.push(pace.throttled(undefined));
      // The 429s of calls that were under way at the time do not count again.
      expect(pace.throttled(undefined)).toBe(lengths.at(-1));
      await clock.advance(lengths.at(-1) ?? 0);
    }
    expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    pace.accepted();
    expect(pace.throttled(undefined)).toBe(1_000);
  });

  it('is never shortened', () => {
    const { pace } = setup();
    expect(pace.throttled(600_000)).toBe(600_000);
    expect(pace.throttled(1_000)).toBe(600_000);
  });
});
