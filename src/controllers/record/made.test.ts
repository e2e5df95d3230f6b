import { describe, expect, it } from 'vitest';
import { MadeRecords } from './made.ts';

describe('what was made a while ago', () => {
  it('is known as long as lists may lack it', () => {
    const made = new MadeRecords();
    made.note('m', { id: 'r1', at: 0, until: 60_000 });
    expect(made.get('m', 59_999)).toMatchObject({ id: 'r1', at: 0 });
    expect(made.get('m', 60_000)).toBeUndefined();
  });

  it('is let go of then, though nothing is made any more, and one that stays for longer came first', () => {
    const made = new MadeRecords();
    made.note('of a connection whose lists trail for an hour', { id: 'r0', at: 0, until: 3_600_000 });
    for (let i = 1; i <= 1_000; i++) made.note(`m${i}`, { id: `r${i}`, at: i, until: 60_000 + i });
    made.sweep(120_000);
    expect(made.size).toBe(1);
    made.sweep(3_600_000);
    expect(made.size).toBe(0);
  });
});
