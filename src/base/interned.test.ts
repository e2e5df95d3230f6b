import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Interned } from './interned.ts';

it('leaves values equal to what they were', () => {
  const interned = new Interned(10);
  const value = made();
  interned.replaceIn(value);
  expect(value).toEqual(made());
  const frozen = Object.freeze({ a: 'one' });
  interned.replaceIn(frozen);
  interned.replaceIn('one');
  expect(frozen).toEqual({ a: 'one' });
});

it('keeps what comes up again, however many others come between', () => {
  const interned = new Interned(100);
  for (let i = 0; i < 10_000; i++) {
    expect(interned.text(`unique ${i}`)).toBe(`unique ${i}`);
    expect(interned.text('common')).toBe('common');
  }
});

it('makes many records with the same texts smaller', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const text = JSON.stringify({
    texts: Array.from({ length: 20 }, (_, i) => `a text that stands in each record, number ${i}`),
  });
  const heapOf = (interned?: Interned): number => {
    collect();
    const before = getHeapStatistics().used_heap_size;
    const records = Array.from({ length: 2_000 }, () => {
      const record: unknown = JSON.parse(text);
      interned?.replaceIn(record);
      return record;
    });
    collect();
    const used = getHeapStatistics().used_heap_size - before;
    expect(records).toHaveLength(2_000);
    return used;
  };
  expect(heapOf(new Interned(100))).toBeLessThan(heapOf() / 3);
});

function made(): object {
  return { a: 'x'.repeat(300), b: ['one', 'two', null, 1, true], c: { d: 'one', e: '' } };
}
