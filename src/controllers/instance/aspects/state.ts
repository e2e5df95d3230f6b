import { factsOf } from '../../../api/reasons.ts';
import type { RequestedOperation } from '../../../api/names.ts';
import type { InstanceOperationName } from '../../../service/index.ts';
import type { DesiredFile } from '../../content/variables.ts';
import type { Aspect, Attempts, Held } from '../../record/attempts.ts';
import { differing, type Difference } from '../../record/differences.ts';
import { heldVerdict } from '../../record/outcome.ts';
import type { Verdict } from '../../record/status/verdict.ts';

/** Parts of an Instance that do not wait for each other, in the order in which their steps are taken. */
export const INSTANCE_ASPECTS = [
  'leaseEnd',
  'lease',
  'content',
  'requests',
  'power',
] as const satisfies Aspect[];
export type InstanceAspect = (typeof INSTANCE_ASPECTS)[number];

/** One thing to do: a write to status, or a call to the service. */
export type InstanceStep =
  /** Write into status where the lease comes from and when it ends, before it goes onto the record. */
  | { do: 'noteLease' }
  | { do: 'dropLeaseSource' }
  /** Write into status what will be ours on the record, before it is put there. */
  | { do: 'noteManaged'; of: 'content' | 'tags' }
  /** What was applied is as declared already: note it. */
  | { do: 'noteApplied' }
  | { do: 'upload'; file: DesiredFile }
  /** A PUT carries, for everything that it is not for, what the record has. */
  | { do: 'put'; why: PutReason }
  | {
      do: 'begin';
      operation: InstanceOperationName | 'terminate';
      token?: { of: RequestedOperation; value: string };
      hash?: string;
      /** The end that this operation carries out in the service's stead. */
      released?: number;
    }
  /** A request that the present state does not allow: said, and counted as carried out. */
  | { do: 'refuseRequest'; of: RequestedOperation; value: string; message: string };

/** What a PUT is for. `tags`: the variables were refused, and hold them back no longer. */
export type PutReason = 'lease' | 'content' | 'tags';

/** A step, and what is meant by it. */
export interface Meant {
  step: InstanceStep;
  /** Of what is declared, for the ledger of attempts. */
  fingerprint: string;
  /** What is to be put right, should it have no effect. */
  differences?: readonly Difference[];
}

/** How an aspect stands. */
export type AspectState =
  /** As declared, or left as it is: `drift` says in what. */
  | { kind: 'inForce'; fingerprint?: string; drift?: readonly Difference[] }
  /** To be done; a later one only where those before it are refused, but of requests whichever is due. */
  | { kind: 'steps'; steps: readonly Meant[] }
  /** It cannot be done now, in words. */
  | { kind: 'held'; verdict: Verdict };

export type AspectStates = Readonly<Record<InstanceAspect, AspectState>>;

/** What a pass does next. */
export type Choice =
  | ({ do: 'step'; aspect: InstanceAspect } & Meant)
  /** Nothing is due: what is held, by aspect, and the verdict of the worst. */
  | { do: 'report'; held: ReadonlySet<InstanceAspect>; verdict: Verdict | undefined };

/** How messages call an aspect. */
const NAMES: Readonly<Record<InstanceAspect, string>> = {
  leaseEnd: 'End of the lease',
  lease: 'Lease',
  content: 'Content',
  requests: 'Request',
  power: 'Power',
};

/**
 * Takes the first step that is due. What is held in one aspect never keeps another back; only a power-on waits for
 * content that is tried again soon, as long as `mayWait` says so.
 */
export function choose(
  states: AspectStates,
  ledger: Pick<Attempts, 'held'>,
  mayWait: () => boolean = () => false,
): Choice {
  const held = new Map<InstanceAspect, Verdict>();
  let contentSoon = false;
  for (const aspect of INSTANCE_ASPECTS) {
    const state = states[aspect];
    if (state.kind === 'inForce') continue;
    if (state.kind === 'held') {
      held.set(aspect, state.verdict);
      continue;
    }
    const { due, waits, meant } = firstDue(aspect, state.steps, ledger);
    if (due !== undefined && !(contentSoon && isPowerOn(due) && mayWait())) {
      return { do: 'step', aspect, ...due };
    }
    if (waits !== undefined) {
      held.set(
        aspect,
        heldVerdict(waits, () => differing(waits, meant?.differences ?? [])),
      );
      if (aspect === 'content') contentSoon = waits.why === 'passing';
    }
  }
  return { do: 'report', held: new Set(held.keys()), verdict: worst(held) };
}

function firstDue(
  aspect: InstanceAspect,
  steps: readonly Meant[],
  ledger: Pick<Attempts, 'held'>,
): { due?: Meant; waits?: Held; meant?: Meant } {
  let first: { waits: Held; meant: Meant } | undefined;
  for (const meant of steps) {
    const waits = ledger.held(aspect, meant.fingerprint, callOf(meant.step));
    if (waits === undefined) return { due: meant };
    first ??= { waits, meant };
    // What is asked for by a request of its own depends on no other.
    if (waits.why === 'passing' && aspect !== 'requests') break;
  }
  return first ?? {};
}

/** The call of a step that steps of other aspects make, too. */
export function callOf(step: InstanceStep): string | undefined {
  if (step.do === 'put') return 'put';
  return step.do === 'begin' ? step.operation : undefined;
}

function isPowerOn({ step }: Meant): boolean {
  return step.do === 'begin' && step.operation === 'poweron';
}

/** The verdict of the aspect that is worst off, which it names; looked at again when any of them is. */
function worst(held: ReadonlyMap<InstanceAspect, Verdict>): Verdict | undefined {
  let chosen: Verdict | undefined;
  let recheckAfterMs = Infinity;
  for (const [aspect, verdict] of held) {
    recheckAfterMs = Math.min(recheckAfterMs, verdict.recheckAfterMs ?? Infinity);
    if (chosen === undefined || rank(verdict) > rank(chosen)) {
      chosen = named(aspect, verdict);
    }
  }
  if (chosen === undefined || recheckAfterMs === Infinity) return chosen;
  return { ...chosen, recheckAfterMs };
}

/** The verdict of an aspect, which it names; an operation that failed has a name of its own. */
export function named(aspect: InstanceAspect, verdict: Verdict): Verdict {
  if (verdict.reason === 'OperationFailed') return verdict;
  return { ...verdict, message: `${NAMES[aspect]}: ${verdict.message}` };
}

/** The aspect that such a message names, and what it says of that. */
export function aspectIn(message: string): { aspect: InstanceAspect; said: string } | undefined {
  const aspect = INSTANCE_ASPECTS.find((one) => message.startsWith(`${NAMES[one]}: `));
  return aspect === undefined ? undefined : { aspect, said: message.slice(NAMES[aspect].length + 2) };
}

function rank({ reason }: Verdict): number {
  const { also } = factsOf(reason);
  return also === 'Stalled' ? 2 : also === 'Reconciling' ? 1 : 0;
}
