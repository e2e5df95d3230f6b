import { KUBE_ERRORS, MISHAPS, READ_ERRORS, SERVICE_ERRORS, type Plan } from './faults.ts';
import { overruns } from './bounds.ts';
import { differences, runOnce, type Run, type RunOptions } from './run.ts';
import type { Workload } from './workloads.ts';

/** What an enumeration came to. */
export interface Tally {
  workload: string;
  listLag: number;
  effects: number;
  plans: number;
  failures: { plan: Plan | undefined; said: string }[];
}

export interface EnumerateOptions {
  kinds: RunOptions['kinds'];
  listLag: number;
  /** The undisturbed run to compare with. @default one of its own, which has to be without failure */
  reference?: Run;
  /** Which of the plans to run. @default all of them */
  pick?: (plan: Plan, number: number) => boolean;
  /** Stop at the first failure. @default false */
  untilFailure?: boolean;
  /** Also what either side answers when it is not well, to writes and to reads. @default false */
  errorsToo?: boolean;
  /** A hostile neighbour is there in each disturbed run, and in an undisturbed one; the reference has none. @default false */
  neighbour?: boolean;
}

/** Every mishap at every effect of a workload, each in a world of its own, compared with an undisturbed run. */
export async function enumerate(workload: Workload, options: EnumerateOptions): Promise<Tally> {
  const { kinds, listLag, neighbour = false, pick = () => true } = options;
  const undisturbed = await runOnce(workload, { kinds, listLag });
  const { reference = undisturbed } = options;
  const failures: Tally['failures'] = [];
  const own = differences(workload, reference, undisturbed);
  if (own.length > 0 && options.reference !== undefined)
    failures.push({ plan: undefined, said: own.join('\n') });
  else if (own.length > 0) {
    throw new Error(`${workload.name}, undisturbed: ${own.join('\n')}`);
  }
  if (neighbour) {
    const beside = await runOnce(workload, { kinds, listLag, neighbour });
    const said = differences(workload, reference, beside);
    if (said.length > 0) failures.push({ plan: undefined, said: said.join('\n') });
  }
  const plans = plansOf(undisturbed, options.errorsToo === true).filter((plan, number) => pick(plan, number));
  let tried = 0;
  for (const plan of plans) {
    if (failures.length > 0 && options.untilFailure === true) break;
    tried += 1;
    const run = await runOnce(workload, { kinds, listLag, plan, neighbour });
    const said = [...differences(workload, reference, run), ...overruns(plan, reference, run)];
    if (said.length > 0) failures.push({ plan, said: said.join('\n') });
  }
  return {
    workload: workload.name,
    listLag,
    effects: undisturbed.effects.length - undisturbed.from,
    plans: tried,
    failures,
  };
}

/** All plans for the effects of an undisturbed run, those of its set-up aside. */
export function plansOf(run: Run, errorsToo: boolean): Plan[] {
  const atEffects = numbered(run.effects.map(({ label }) => label)).flatMap(({ label, nth }, at) => {
    if (at < run.from) return [];
    const errors = label.startsWith('service ') ? SERVICE_ERRORS : KUBE_ERRORS;
    const mishaps = errorsToo ? [...MISHAPS, ...errors] : MISHAPS;
    return mishaps.map((mishap): Plan => ({ mishap, label, nth }));
  });
  if (!errorsToo) return atEffects;
  const atReads = numbered(run.reads).flatMap(({ label, nth }, at) =>
    at < run.readsFrom ? [] : READ_ERRORS.map((mishap): Plan => ({ mishap, label, nth })),
  );
  return [...atEffects, ...atReads];
}

/** Each label with how many equal ones came before it. */
function numbered(labels: readonly string[]): { label: string; nth: number }[] {
  const counts = new Map<string, number>();
  return labels.map((label) => {
    const nth = counts.get(label) ?? 0;
    counts.set(label, nth + 1);
    return { label, nth };
  });
}
