import { afterAll, describe, expect, it } from 'vitest';
import { ownKinds } from '../support/fake-kube.ts';
import { search } from './search.ts';

const STEPS = 100_000;
const PARTS = 100;
/** `INTERLEAVINGS_SEED=n` runs others. */
const SEED = Number(process.env['INTERLEAVINGS_SEED'] ?? '1001');

describe(`Interleavings, ${STEPS} steps from seed ${SEED}`, () => {
  const kinds = ownKinds();
  const sum = { plans: 0, steps: 0 };
  for (let part = 0; part < PARTS; part++) {
    it(`leave nothing to object to, seed ${SEED + part}`, async () => {
      const { plans, steps, failure } = await search(
        { seed: SEED + part, steps: STEPS / PARTS, longest: 30 },
        kinds,
      );
      sum.plans += plans;
      sum.steps += steps;
      expect(failure).toBeUndefined();
    });
  }
  afterAll(() => process.stdout.write(`\nInterleavings: ${sum.plans} plans, ${sum.steps} steps\n`));
});
