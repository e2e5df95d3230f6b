import * as fc from 'fast-check';
import type { WorldOptions } from '../support/world.ts';
import { plans } from './arbitrary.ts';
import { prune } from './findings.ts';
import { runPlan, scriptOf, type Plan } from './run.ts';

/** What a search came to. */
export interface Found {
  plans: number;
  steps: number;
  /** The shortest plan that fails, as a script, and what is objected to. */
  failure: string | undefined;
}

/** Runs plans until so many steps have been made, or one fails; that one is made as short as it gets. */
export async function search(
  options: { seed: number; steps: number; longest: number },
  kinds: WorldOptions['kinds'],
): Promise<Found> {
  const found: Found = { plans: 0, steps: 0, failure: undefined };
  let shrinking = false;
  const details = await fc.check(
    fc.asyncProperty(plans({ longest: options.longest, prune }), async (plan: Plan) => {
      if (!shrinking && found.steps >= options.steps) return;
      if (!shrinking) {
        found.plans += 1;
        found.steps += plan.steps.length;
      }
      const { objections } = await runPlan(plan, kinds);
      if (objections.length === 0) return;
      shrinking = true;
      throw new Error(objections.slice(0, 3).join('\n'));
    }),
    { numRuns: options.steps, seed: options.seed },
  );
  if (details.failed) {
    const [plan] = details.counterexample as [Plan];
    const said = (details.errorInstance as Error | undefined)?.message ?? '';
    found.failure = `seed ${options.seed}, ${details.numShrinks} shrinks:\n${scriptOf(plan)}\n=> ${said}\n${JSON.stringify(plan)}`;
  }
  return found;
}
