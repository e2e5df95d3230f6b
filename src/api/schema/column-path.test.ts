import { describe, expect, it } from 'vitest';
import { KINDS } from '../kinds.ts';
import { columnValue, stepsOf } from './column-path.ts';

const RESOURCE = {
  metadata: { name: 'web' },
  status: {
    conditions: [
      { type: 'Stalled', reason: 'No' },
      { type: 'Ready', reason: 'Settled' },
    ],
  },
};

describe('the value of a column', () => {
  it('is what its path leads to', () => {
    expect(columnValue('.metadata.name', RESOURCE)).toBe('web');
    expect(columnValue('.status.conditions[?(@.type=="Ready")].reason', RESOURCE)).toBe('Settled');
  });

  it('is nothing where the path ends early', () => {
    expect(columnValue('.status.lease.expire', RESOURCE)).toBeUndefined();
    expect(columnValue('.status.conditions[?(@.type=="Other")].reason', RESOURCE)).toBeUndefined();
    expect(columnValue('.metadata.name[?(@.a=="b")]', RESOURCE)).toBeUndefined();
  });

  it('can be read of every column that there is', () => {
    for (const { columns } of KINDS)
      for (const { jsonPath } of columns) expect(stepsOf(jsonPath)).not.toEqual([]);
  });

  it('is refused in another form', () => {
    expect(() => stepsOf('.status.*')).toThrow('not a path of a column');
    expect(() => stepsOf('status')).toThrow('not a path of a column');
  });
});
