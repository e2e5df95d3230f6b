import { assert, constantFrom, dictionary, letrec, oneof, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leavesOf, mergeList, mergeMap, mergeTags } from './merge.ts';

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

const variable = (name: string, value: string): Record<string, string> => ({ name, value });

describe('mergeList', () => {
  it('keeps one of a declared item that the record shows twice, and what others have twice', () => {
    const merged = mergeList<Record<string, string>>({
      current: [
        variable('PORT', '1'),
        variable('THEIRS', 'x'),
        variable('PORT', '2'),
        variable('THEIRS', 'x'),
      ],
      managed: [],
      desired: [variable('PORT', '2')],
      keyOf: ({ name }) => name ?? '',
      combine: (_current, desired) => desired,
    });
    expect(merged).toEqual([variable('PORT', '2'), variable('THEIRS', 'x'), variable('THEIRS', 'x')]);
  });

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

describe('mergeMap', () => {
  it('keeps what others added, inside our members too, and takes away what we removed', () => {
    const merged = mergeMap({
      current: {
        flavor: 's',
        image: 'a',
        added: 1,
        tags: { env: 'x', team: 'y', theirs: 'z' },
        net: { id: 1 },
      },
      managed: ['/flavor', '/image', '/tags/env', '/tags/team', '/net/id'],
      desired: { flavor: 'm', tags: { env: 'x' } },
    });
    expect(merged).toEqual({ flavor: 'm', added: 1, tags: { env: 'x', theirs: 'z' } });
  });

  it('names members by pointers that no name can confuse', () => {
    expect(leavesOf({ 'a/b': 1, a: { b: 2, '~': [] }, empty: {} })).toEqual([
      '/a~1b',
      '/a/b',
      '/a/~0',
      '/empty',
    ]);
  });

  it('settles: merging its own outcome changes nothing', () => {
    const map = letrec<{ map: Record<string, unknown> }>((tie) => ({
      map: dictionary(
        constantFrom('a', 'b', 'c/d'),
        oneof({ maxDepth: 2 }, constantFrom(1, null, [1]), tie('map')),
      ),
    })).map;
    assert(
      property(map, map, map, (current, before, desired) => {
        const once = mergeMap({ current, managed: leavesOf(before), desired });
        expect(mergeMap({ current: once, managed: leavesOf(desired), desired })).toEqual(once);
        const emptied = mergeMap({ current: once, managed: leavesOf(desired), desired: {} });
        expect(leavesOf(emptied).filter((leaf) => leavesOf(desired).includes(leaf))).toEqual([]);
      }),
    );
  });
});

describe('maps of long names', () => {
  const name = 'x'.repeat(500_000);
  const members = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i]));

  it('that others have made are merged in the time that it takes to read them', () => {
    const begun = performance.now();
    const merged = mergeMap({ current: { [name]: members }, managed: ['/a', '/b/c'], desired: { d: 1 } });
    expect([merged['d'], Object.keys(merged[name] as object).length]).toEqual([1, 5_000]);
    expect(performance.now() - begun).toBeLessThan(200);
  });

  it('lose what was a leaf as a whole, whatever is below it now', () => {
    const managed = ['/a', '/a/b', '/e/f', '/g~1h/~0i'];
    const current = { a: { b: 1, c: 2 }, e: { f: 1 }, 'g/h': { '~i': 1, j: 2 }, k: {} };
    expect(mergeMap({ current, managed, desired: {} })).toEqual({ 'g/h': { j: 2 }, k: {} });
  });
});
