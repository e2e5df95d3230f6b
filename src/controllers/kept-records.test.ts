import { describe, expect, it } from 'vitest';
import { KeptRecords } from './kept-records.ts';

const holding = (bytes: number): { observed: { record: object } | undefined } => ({
  observed: { record: { id: 'r', text: 'x'.repeat(bytes) } },
});

describe('the records that are remembered', () => {
  it('are forgotten where they do not fit, those first that were looked at longest ago', () => {
    const kept = new KeptRecords(300_000);
    const [a, b, c, d] = [holding(90_000), holding(90_000), holding(90_000), holding(90_000)];
    kept.note('x/a', 'x', a);
    kept.note('y/b', 'y', b);
    kept.note('z/c', 'z', c);
    kept.note('x/a', 'x', a);
    kept.note('v/d', 'v', d);
    expect([a, b, c, d].map(({ observed }) => observed !== undefined)).toEqual([true, false, true, true]);
    expect(kept.held).toBeLessThanOrEqual(300_000);
  });

  it('of one namespace take a third, and cost others nothing', () => {
    const kept = new KeptRecords(300_000);
    const other = holding(50_000);
    kept.note('y/a', 'y', other);
    const own = Array.from({ length: 10 }, () => holding(40_000));
    for (const [i, one] of own.entries()) kept.note(`x/${i}`, 'x', one);
    expect(other.observed).toBeDefined();
    expect(own.filter(({ observed }) => observed !== undefined)).toHaveLength(2);
    const huge = holding(1_000_000);
    kept.note('x/huge', 'x', huge);
    expect([huge.observed, other.observed]).toEqual([undefined, other.observed]);
  });

  it('count no more once they or their resource are gone', () => {
    const kept = new KeptRecords(300_000);
    const one = holding(50_000);
    kept.note('x/a', 'x', one);
    kept.note('x/b', 'x', holding(1_000));
    one.observed = undefined;
    kept.note('x/a', 'x', one);
    kept.drop('x/b');
    expect(kept.held).toBe(0);
  });

  it('count with what is kept of records that they name', () => {
    const kept = new KeptRecords(300_000);
    const declared = new Map([['box', { text: 'x'.repeat(90_000) }]]);
    kept.note('x/a', 'x', { observed: undefined, declared });
    expect(kept.held).toBeGreaterThan(90_000);
    kept.note('y/b', 'y', holding(90_000));
    kept.note('z/c', 'z', holding(90_000));
    kept.note('v/d', 'v', holding(90_000));
    expect([declared.size, kept.held < 300_000]).toEqual([0, true]);
  });
});
