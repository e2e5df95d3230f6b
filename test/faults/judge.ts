/**
 * Judges the sources beside it: what `planted.long.test.ts` runs in a copy of the project, once as it is for the
 * undisturbed runs to compare with, then once for each mistake planted in it.
 *
 * Usage: node judge.ts <file of references> [json of Planted]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ownKinds } from '../support/fake-kube.ts';
import { enumerate } from './plans.ts';
import type { Planted } from './planted.ts';
import { runOnce, type Run } from './run.ts';
import { WORKLOADS } from './workloads.ts';

const LAGS = [0, 5] as const;
const [references = '', planted] = process.argv.slice(2);
const kinds = ownKinds();

if (planted === undefined) {
  const runs: Record<string, Run> = {};
  for (const workload of WORKLOADS) {
    for (const listLag of LAGS)
      runs[`${workload.name}/${listLag}`] = await runOnce(workload, { kinds, listLag });
  }
  writeFileSync(references, JSON.stringify(runs));
} else {
  const { workloads, listLag = 0, errorsToo = false, neighbour = false } = JSON.parse(planted) as Planted;
  const runs = JSON.parse(readFileSync(references, 'utf8')) as Record<string, Run>;
  let plans = 0;
  let caught: string | undefined;
  for (const workload of WORKLOADS.filter(({ name }) => workloads.some((start) => name.startsWith(start)))) {
    const reference = runs[`${workload.name}/${listLag}`];
    if (reference === undefined) throw new Error(`there is no undisturbed run of ${workload.name}`);
    const tally = await enumerate(workload, {
      kinds,
      listLag,
      reference,
      errorsToo,
      neighbour,
      untilFailure: true,
    });
    plans += tally.plans;
    const [failure] = tally.failures;
    if (failure === undefined) continue;
    const where =
      failure.plan === undefined ? 'undisturbed' : `${failure.plan.mishap}, ${failure.plan.label}`;
    caught = `${workload.name}, ${where}: ${failure.said.split('\n', 2).join(' ').slice(0, 200)}`;
    break;
  }
  process.stdout.write(`${JSON.stringify({ plans, caught })}\n`);
}
