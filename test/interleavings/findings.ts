import type { Plan } from './run.ts';
import type { Step } from './steps.ts';

/** A fault of the operator that is known and not mended yet. */
export interface Finding {
  /** Its number in the list of findings. */
  id: string;
  what: string;
  /** Steps that lead there, beside waiting: what a search for it draws from. */
  among: readonly Step[];
  /** What is objected to, whichever way it is come upon. */
  shows: RegExp;
  /** Whether a plan can come upon it: such plans tell nothing new. */
  touches: (plan: Plan) => boolean;
  /** The shortest plan that was found. */
  shortest: Plan;
}

/** What is known and open. An entry goes with its mend: its plan has to pass then. */
export const OPEN_FINDINGS: readonly Finding[] = [];

/** A plan without the steps that would come upon what is known. */
export function prune(plan: Plan): Plan {
  const steps: Step[] = [];
  for (const step of plan.steps) {
    const longer = { ...plan, steps: [...steps, step] };
    if (!OPEN_FINDINGS.some(({ touches }) => touches(longer))) steps.push(step);
  }
  return { ...plan, steps };
}
