import { expect, it } from 'vitest';
import { besiege } from './siege.ts';

const ATTACKS = 100;
/** `HOSTILE_SEED=n` makes others. */
const SEED = Number(process.env['HOSTILE_SEED'] ?? '1');

it(`an author of another namespace takes, changes and holds nothing, whatever he writes (seed ${SEED})`, async () => {
  expect(await besiege(ATTACKS, SEED)).toEqual({ attacks: ATTACKS, harm: [] });
}, 180_000);
