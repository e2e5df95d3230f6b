import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../api/kinds.ts';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { FakeKube, ownKinds } from '../../../../test/support/fake-kube.ts';
import { wildCase } from '../../../../test/support/wild.ts';
import { WildBench } from '../../../../test/support/wild-bench.ts';

/** Cases of each kind; test/api/status-fits.long.test.ts runs many more, and on the real API server. */
const CASES = 60;

const kinds = ownKinds();

describe.each(KINDS)('$kind', (definition) => {
  test('takes any status that anything makes the operator write, and says the same only once', async () => {
    await fc.assert(
      fc.asyncProperty(wildCase(definition), async (wild) => {
        const clock = new VirtualClock();
        const kube = new FakeKube({ clock, kinds, namespaces: ['shop'] });
        const bench = await WildBench.make(wild, kube, clock, 'shop');
        expect(await bench.judge()).toEqual([]);
      }),
      { numRuns: CASES },
    );
  });
});
