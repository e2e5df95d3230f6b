import { afterAll, describe, expect, it } from 'vitest';
import { ownKinds } from '../support/fake-kube.ts';
import { search } from './search.ts';

/** Steps in all, split so that two workers share them; a run of many more is interleavings.long.test.ts. */
const STEPS = 5_000;
const PARTS = 10;
/** `INTERLEAVINGS_SEED=n` runs others. */
const SEED = Number(process.env['INTERLEAVINGS_SEED'] ?? '1');

describe(`Interleavings, ${STEPS} steps from seed ${SEED}`, () => {
  const kinds = ownKinds();
  const rows: string[] = [];

  for (let part = 0; part < PARTS; part++) {
    it(`leave nothing to object to, seed ${SEED + part}`, { timeout: 600_000 }, async () => {
      const seed = SEED + part;
      const { plans, steps, failure } = await search({ seed, steps: STEPS / PARTS, longest: 16 }, kinds);
      rows.push(`seed ${seed}: ${plans} plans, ${steps} steps`);
      expect(failure).toBeUndefined();
      expect(steps).toBeGreaterThanOrEqual(STEPS / PARTS);
    });
  }
  afterAll(() => process.stdout.write(`\nInterleavings\n${rows.join('\n')}\n`));
});
