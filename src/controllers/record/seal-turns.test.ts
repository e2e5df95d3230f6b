import { describe, expect, it } from 'vitest';
import { SealTurns } from './seal-turns.ts';

describe('turns to be sealed', () => {
  it('come one a second at most, in the order in which namespaces asked', () => {
    const turns = new SealTurns();
    expect(turns.take('a', 'a/1', 0)).toBeUndefined();
    expect(turns.take('a', 'a/2', 0)).toBe(1_000);
    expect(turns.take('b', 'b/1', 10)).toBe(1_990);
    expect(turns.take('a', 'a/2', 1_000)).toBeUndefined();
    expect(turns.take('a', 'a/3', 1_000)).toBe(2_000);
    expect(turns.take('b', 'b/1', 1_999)).toBe(1);
    expect(turns.take('b', 'b/1', 2_000)).toBeUndefined();
  });

  it('of one namespace wait for no more than one of another, however many resources that has', () => {
    const turns = new SealTurns();
    const sealed: string[] = [];
    for (let now = 0; now < 60_000; now += 100) {
      for (let i = 0; i < 500; i++)
        if (turns.take('crowd', `crowd/${i}`, now) === undefined) sealed.push('crowd');
      if (now >= 30_000 && turns.take('shop', 'shop/web', now) === undefined) sealed.push('shop');
    }
    const [before, after] = [sealed.slice(0, 31), sealed.slice(31)];
    expect(before.every((one) => one === 'crowd')).toBe(true);
    expect(after.slice(0, 2)).toContain('shop');
    expect(sealed.length).toBeLessThanOrEqual(60);
  });

  it('that several come late for are taken one a second, too', () => {
    const turns = new SealTurns();
    for (const name of ['a', 'b', 'c']) turns.take(name, `${name}/1`, 0);
    expect(turns.take('b', 'b/1', 30_000)).toBeUndefined();
    expect(turns.take('c', 'c/1', 30_000)).toBe(1_000);
    expect(turns.take('c', 'c/1', 31_000)).toBeUndefined();
  });

  it('are lost by who does not come for them, and by nobody else', () => {
    const turns = new SealTurns();
    turns.take('a', 'a/1', 0);
    expect(turns.take('a', 'a/gone', 0)).toBe(1_000);
    expect(turns.take('a', 'a/2', 30_000)).toBe(Infinity);
    expect(turns.take('a', 'a/2', 61_000)).toBeUndefined();
  });
});
