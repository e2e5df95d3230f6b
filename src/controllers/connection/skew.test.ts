import { describe, expect, it } from 'vitest';
import { skewText, tellableSkew } from './skew.ts';

describe('clocks that differ', () => {
  it('are told of from a minute on, and until they agree again', () => {
    expect(tellableSkew(60_000, undefined)).toBeUndefined();
    expect(tellableSkew(-61_000, undefined)).toBe(-61_000);
    expect(tellableSkew(50_000, 61_000)).toBe(61_000);
    expect(tellableSkew(40_000, 61_000)).toBeUndefined();
    expect(tellableSkew(undefined, 61_000)).toBe(61_000);
  });

  it('are told of anew only when the difference has moved', () => {
    expect(tellableSkew(7_229_000, 7_200_000)).toBe(7_200_000);
    expect(tellableSkew(7_231_000, 7_200_000)).toBe(7_231_000);
  });

  it('are told of in words that say what follows', () => {
    expect(skewText(7_215_000)).toContain(
      "The service's clock is about 2h ahead of the operator's: leases end that much early",
    );
    expect(skewText(-75_000)).toContain("about 1m behind the operator's: leases end that much late");
  });
});
