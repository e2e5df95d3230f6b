import type { Plan } from './faults.ts';
import type { Run } from './run.ts';

/** What a mishap may cost beyond the undisturbed run. */
interface Bound {
  /** Until everything is as it has to be, seconds, in each step. */
  seconds: number;
  /** Requests that change something, applied or not. */
  effects: number;
  /** Reads of the service. */
  reads: number;
  /** Whether a resource may say Stalled on the way: what was sent was refused for good. */
  stalled: boolean;
}

/** A create whose outcome is unknown: the time-out of a POST, a lag window, and the looks after them. */
const LOOKED_UP: Bound = { seconds: 120, effects: 8, reads: 40, stalled: false };
/** A look in vain: the proof of absence takes a lag window, and what it is about another. */
const DOUBTED: Bound = { seconds: 180, effects: 8, reads: 40, stalled: false };
/** What is refused for good is tried again after ten minutes, and up to a fifth of that as jitter. */
const REFUSED: Bound = { seconds: 780, effects: 8, reads: 40, stalled: true };

function boundOf({ mishap, label }: Plan): Bound {
  if (mishap.startsWith('read ')) return DOUBTED;
  // A conflict at the API server is somebody else's write; only the service means a refusal by 409.
  const refused = mishap === 'conflict' ? label.startsWith('service ') : mishap === '403' || mishap === '404';
  return refused ? REFUSED : LOOKED_UP;
}

/** Where a disturbed run has cost more than its mishap explains. */
export function overruns(plan: Plan, undisturbed: Run, disturbed: Run): string[] {
  const bound = boundOf(plan);
  const out: string[] = [];
  for (const [at, { step, ms }] of disturbed.views.entries()) {
    const extra = (ms - (undisturbed.views[at]?.ms ?? 0)) / 1_000;
    if (extra > bound.seconds)
      out.push(`"${step}" takes ${extra.toFixed(0)} s longer, not ${bound.seconds} s at most`);
  }
  const [moreEffects, moreReads] = [
    effectsOf(disturbed) - effectsOf(undisturbed),
    readsOf(disturbed) - readsOf(undisturbed),
  ];
  if (moreEffects > bound.effects) out.push(`${moreEffects} requests more, not ${bound.effects} at most`);
  if (moreReads > bound.reads) out.push(`${moreReads} reads more, not ${bound.reads} at most`);
  const stalled = disturbed.stalled.filter((one) => !undisturbed.stalled.includes(one));
  if (!bound.stalled && stalled.length > 0) out.push(`says Stalled on the way: ${stalled.join(', ')}`);
  return out;
}

function effectsOf({ effects, from }: Run): number {
  return effects.length - from;
}

function readsOf({ reads, readsFrom }: Run): number {
  return reads.length - readsFrom;
}
