import { describe, expect, it } from 'vitest';
import { Lanes } from './lanes.ts';
import { LANES, type Lane } from './priority.ts';

/** Takes all that waits, in order. */
function drain<T>(lanes: Lanes<T>): T[] {
  const order: T[] = [];
  for (let next = lanes.take(); next !== undefined; next = lanes.take()) order.push(next.item);
  return order;
}

/** Whose turns the first `count` are where every one of `flooded` always has somebody waiting. */
function turns(flooded: readonly Lane[], count: number): Record<Lane, number> {
  const lanes = new Lanes<string>();
  const seen: Record<Lane, number> = { edit: 0, normal: 0, new: 0, periodic: 0 };
  let made = 0;
  for (const lane of flooded) lanes.add(`${made++}`, lane);
  for (let i = 0; i < count; i++) {
    const turn = lanes.take();
    if (turn === undefined) break;
    seen[turn.lane] += 1;
    lanes.add(`${made++}`, turn.lane);
  }
  return seen;
}

describe('lanes', () => {
  it('serve first come, first served within a lane, the more urgent lane first', () => {
    const lanes = new Lanes<string>();
    lanes.add('periodic', 'periodic');
    lanes.add('normal', 'normal');
    lanes.add('new', 'new');
    lanes.add('first edit', 'edit');
    lanes.add('second edit', 'edit');
    expect(drain(lanes)).toEqual(['first edit', 'second edit', 'normal', 'new', 'periodic']);
  });

  it('give an edit the next turn, however many have waited longer', () => {
    const lanes = new Lanes<string>();
    for (let i = 0; i < 1_000; i++)
      for (const lane of ['new', 'normal', 'periodic'] as const) lanes.add(`${lane} ${i}`, lane);
    for (let i = 0; i < 100; i++) lanes.take();
    lanes.add('edit', 'edit');
    expect(lanes.take()?.item).toBe('edit');
  });

  it('let no flood of more urgent work stop a lane', () => {
    const seen = turns(LANES, 1_000);
    for (const lane of LANES) expect(seen[lane]).toBeGreaterThanOrEqual(10);
    expect(seen.edit).toBeGreaterThan(750);
  });

  it('put what is begun ahead of creations, four turns to one', () => {
    const { new: fresh, normal } = turns(['new', 'normal'], 900);
    expect(normal / fresh).toBeCloseTo(4, 0);
    expect(turns(['new', 'normal', 'periodic'], 1_000).periodic).toBeGreaterThanOrEqual(45);
  });

  it('let a lane that was empty claim none of the turns that it missed', () => {
    const lanes = new Lanes<string>();
    for (let i = 0; i < 100; i++) lanes.add(`normal ${i}`, 'normal');
    for (let i = 0; i < 50; i++) lanes.take();
    for (let i = 0; i < 50; i++) lanes.add(`new ${i}`, 'new');
    const next = Array.from({ length: 20 }, () => lanes.take()?.lane);
    expect(next.filter((lane) => lane === 'new')).toHaveLength(4);
  });

  it('give each group its turn within a lane', () => {
    const lanes = new Lanes<string>();
    for (let i = 0; i < 5; i++) lanes.add(`big ${i}`, 'new', 'big');
    lanes.add('small 0', 'new', 'small');
    expect(drain(lanes)).toEqual(['big 0', 'small 0', 'big 1', 'big 2', 'big 3', 'big 4']);
  });

  it('pass over a lane that is closed, and forget what was taken out', () => {
    const lanes = new Lanes<string>();
    lanes.add('edit', 'edit');
    lanes.add('new', 'new');
    lanes.add('gone', 'new');
    lanes.delete('gone', 'new');
    expect(lanes.take((lane) => lane !== 'edit')?.item).toBe('new');
    expect(lanes.take((lane) => lane !== 'edit')).toBeUndefined();
    expect(lanes.size).toBe(1);
    expect(drain(lanes)).toEqual(['edit']);
  });
});
