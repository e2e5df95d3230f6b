import { SERVICE_ERRORS, MISHAPS, type Plan } from './faults.ts';
import { differences, runOnce, type Run, type RunOptions } from './run.ts';
import type { Workload } from './workloads.ts';

/** What an enumeration came to. */
export interface Tally {
  workload: string;
  listLag: number;
  effects: number;
  plans: number;
  failures: { plan: Plan; said: string }[];
}

export interface EnumerateOptions {
  kinds: RunOptions['kinds'];
  listLag: number;
  /** Which of the plans to run. @default all of them */
  pick?: (plan: Plan, number: number) => boolean;
  /** Stop at the first failure. @default false */
  untilFailure?: boolean;
  /** Also what a service answers when it is not well. @default false */
  serviceErrors?: boolean;
}

/** Every mishap at every effect of a workload, each in a world of its own, compared with an undisturbed run. */
export async function enumerate(workload: Workload, options: EnumerateOptions): Promise<Tally> {
  const { kinds, listLag, pick = () => true } = options;
  const undisturbed = await runOnce(workload, { kinds, listLag });
  if (undisturbed.failures.length > 0) {
    throw new Error(`${workload.name}, undisturbed: ${undisturbed.failures.join('\n')}`);
  }
  const plans = plansOf(undisturbed, options.serviceErrors === true).filter((plan, number) =>
    pick(plan, number),
  );
  const failures: Tally['failures'] = [];
  for (const plan of plans) {
    const run = await runOnce(workload, { kinds, listLag, plan });
    const said = differences(workload, undisturbed, run);
    if (said.length > 0) failures.push({ plan, said: said.join('\n') });
    if (said.length > 0 && options.untilFailure === true) break;
  }
  return {
    workload: workload.name,
    listLag,
    effects: undisturbed.effects.length - undisturbed.from,
    plans: plans.length,
    failures,
  };
}

/** All plans for the effects of an undisturbed run, those of its set-up aside. */
export function plansOf(run: Run, serviceErrors: boolean): Plan[] {
  return run.effects.flatMap(({ label, port }, at) => {
    if (at < run.from) return [];
    const mishaps = port === 'service' && serviceErrors ? [...MISHAPS, ...SERVICE_ERRORS] : MISHAPS;
    return mishaps.map((mishap): Plan => ({ at, mishap, label }));
  });
}
