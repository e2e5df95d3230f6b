import { assert, constantFrom, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeList, mergeTags } from './merge.ts';

describe('mergeTags', () => {
  it('keeps what others added, takes away what we put there, adds what is new', () => {
    expect(
      mergeTags({ current: ['theirs', 'old', 'kept'], managed: ['old', 'kept'], desired: ['kept', 'new'] }),
    ).toEqual(['theirs', 'kept', 'new']);
  });

  it('takes over a tag that somebody else had put there too, without doubling it', () => {
    expect(mergeTags({ current: ['shared'], managed: [], desired: ['shared'] })).toEqual(['shared']);
  });

  it('settles: merging its own outcome changes nothing', () => {
    const tags = uniqueArray(constantFrom('a', 'b', 'c', 'd', 'e'));
    assert(
      property(tags, tags, tags, (current, managed, desired) => {
        const once = mergeTags({ current, managed, desired });
        expect(mergeTags({ current: once, managed: desired, desired })).toEqual(once);
        expect(new Set(once).size).toBe(once.length);
        for (const tag of desired) expect(once).toContain(tag);
      }),
    );
  });
});

describe('mergeList', () => {
  it('keeps members of an item that the service added', () => {
    const merged = mergeList<Record<string, string>>({
      current: [{ name: 'PORT', value: '1', friendly: 'x' }],
      managed: ['PORT'],
      desired: [{ name: 'PORT', value: '2' }],
      keyOf: (item) => item.name ?? '',
      combine: (current, desired) => ({ ...current, ...desired }),
    });
    expect(merged).toEqual([{ name: 'PORT', value: '2', friendly: 'x' }]);
  });
});
