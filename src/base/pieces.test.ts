import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Pieces } from './pieces.ts';

it('pieces come out as they went in, however they were cut', () => {
  const cuts = fc.array(fc.oneof(fc.nat(5), fc.nat(2_000)), { maxLength: 60 });
  fc.assert(
    fc.property(cuts, fc.array(fc.boolean(), { maxLength: 60 }), (lengths, shifts) => {
      const pieces = new Pieces();
      const all = Buffer.from(
        Uint8Array.from({ length: lengths.reduce((sum, one) => sum + one, 0) }, (_, i) => i),
      );
      const out: Uint8Array[] = [];
      let at = 0;
      for (const [i, length] of lengths.entries()) {
        pieces.push(all.subarray(at, (at += length)));
        const one = shifts[i] === true ? pieces.shift() : undefined;
        if (one !== undefined) out.push(one);
      }
      expect(pieces.bytes).toBe(all.length - Buffer.concat(out).length);
      out.push(pieces.take());
      expect(Buffer.concat(out).equals(all)).toBe(true);
      expect([pieces.bytes, pieces.shift()]).toEqual([0, undefined]);
    }),
  );
});

it('small pieces are copied together', () => {
  const pieces = new Pieces();
  for (let i = 0; i < 10_000; i++) pieces.push(Buffer.of(i));
  let count = 0;
  while (pieces.shift() !== undefined) count += 1;
  expect(count).toBe(3);
});
