import { describe, expect, it } from 'vitest';
import { besiege } from './siege.ts';

const ATTACKS = 5_000;
const PART = 200;
/** `HOSTILE_SEED=n` makes others. */
const SEED = Number(process.env['HOSTILE_SEED'] ?? '1001');

describe(`${ATTACKS} attacks by an author of another namespace`, () => {
  it.each(Array.from({ length: ATTACKS / PART }, (_, part) => SEED + part))(
    'take, change and hold nothing, seed %d',
    async (seed) => {
      expect(await besiege(PART, seed)).toEqual({ attacks: PART, harm: [] });
    },
  );
});
