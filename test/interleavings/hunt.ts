/**
 * Looks for a known finding, or for what is not known yet, and prints the shortest plan of each thing found.
 *
 * Usage: node hunt.ts [finding] [--plans 300] [--seed 1] [--everything]
 * Without a finding it draws from all steps but those that lead to what is known, with `--everything` from all.
 */
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { ownKinds } from '../support/fake-kube.ts';
import { plans } from './arbitrary.ts';
import { OPEN_FINDINGS, prune } from './findings.ts';
import { runPlan, scriptOf, type Plan } from './run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plans: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    everything: { type: 'boolean', default: false },
    longest: { type: 'string', default: '12' },
  },
});
const kinds = ownKinds();
const [id] = positionals;
const finding = OPEN_FINDINGS.find((one) => one.id === id);
if (id !== undefined && finding === undefined) throw new Error(`${id} is none of the open findings`);
const waits = [1, 5, 20, 70, 300, 4_000].map((seconds) => ({ do: 'wait', seconds }) as const);
const options =
  finding === undefined
    ? { longest: Number(values.longest), ...(values.everything ? {} : { prune }) }
    : { longest: 5, step: fc.constantFrom(...finding.among, ...waits) };

const started = performance.now();
let tried = 0;
let steps = 0;
const seen = new Set<string>();
const shown = (objections: readonly string[]): string[] =>
  objections.filter((said) => finding?.shows.test(said) ?? !seen.has(kindOf(said)));

for (let left = Number(values.plans), seed = Number(values.seed); left > 0; seed += 1) {
  let count = 0;
  const details = await fc.check(
    fc.asyncProperty(plans(options), async (plan: Plan) => {
      count += 1;
      steps += plan.steps.length;
      const { objections } = await runPlan(plan, kinds);
      const [first] = shown(objections);
      if (first !== undefined) throw new Error(first);
    }),
    { numRuns: left, seed, endOnFailure: false },
  );
  tried += count;
  left -= count;
  if (!details.failed) break;
  const [plan] = details.counterexample as [Plan];
  const said = (details.errorInstance as Error).message;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(
    `\nafter ${tried} plans, ${seconds} s (seed ${seed}):\n${scriptOf(plan)}\n=> ${said.slice(0, 400)}\n`,
  );
  process.stdout.write(`${JSON.stringify(plan)}\n`);
  if (finding !== undefined) break;
  seen.add(kindOf(said));
}
process.stdout.write(
  `${tried} plans, ${steps} steps, ${((performance.now() - started) / 1_000).toFixed(1)} s\n`,
);

/** What two objections have in common that say the same of another record, at another time. */
function kindOf(said: string): string {
  return said
    .replace(/\(\+[0-9.]+ s\)/, '')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|i-[a-z0-9]{6}/g, '{id}')
    .replace(/\d+/g, '#')
    .slice(0, 100);
}
