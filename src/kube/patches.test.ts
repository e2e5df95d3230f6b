import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatchOf, sameJson, statusPatch } from './patches.ts';

/** RFC 7386, section 2, as pseudo-code there. */
function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

describe('mergePatchOf', () => {
  it('holds what changed and nothing else', () => {
    const before = { a: 1, b: { c: 2, d: 3 }, list: [1, 2], gone: true };
    const after = { a: 1, b: { c: 2, d: 4, e: undefined }, list: [1, 3], fresh: { x: 1, y: undefined } };
    expect(mergePatchOf(before, after)).toEqual({ b: { d: 4 }, list: [1, 3], gone: null, fresh: { x: 1 } });
  });

  it('is undefined when nothing changed, whatever the order of members', () => {
    expect(
      mergePatchOf({ a: 1, b: { c: [{ x: 1, y: 2 }] } }, { b: { c: [{ y: 2, x: 1 }] }, a: 1 }),
    ).toBeUndefined();
    expect(mergePatchOf({ a: undefined }, {})).toBeUndefined();
  });

  it('keeps an empty object that was not there, and sends one that was emptied as removals', () => {
    expect(mergePatchOf({}, { tags: {} })).toEqual({ tags: {} });
    expect(mergePatchOf({ tags: { a: 'b' } }, { tags: {} })).toEqual({ tags: { a: null } });
  });

  it('turns one value into any other', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
    const { value } = fc.letrec((tie) => ({
      value: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), fc.oneof(leaf, tie('value')), {
        maxKeys: 4,
      }),
    }));
    fc.assert(
      fc.property(value as fc.Arbitrary<object>, value as fc.Arbitrary<object>, (before, after) => {
        const patch = mergePatchOf(before, after);
        expect(sameJson(patch === undefined ? before : applyMergePatch(before, patch), after)).toBe(true);
        expect(patch === undefined).toBe(sameJson(before, after));
      }),
    );
  });
});

describe('statusPatch', () => {
  it('is undefined when the new status means the same', () => {
    expect(
      statusPatch({ id: 'x', conditions: [{ type: 'Ready' }] }, { conditions: [{ type: 'Ready' }], id: 'x' }),
    ).toBeUndefined();
    expect(statusPatch(undefined, {})).toBeUndefined();
  });

  it('wraps what changed', () => {
    expect(statusPatch({ observedGeneration: -1 }, { observedGeneration: 1, id: 'x' })).toEqual({
      status: { observedGeneration: 1, id: 'x' },
    });
  });
});
