import { CONDITIONS, factsOf } from '../../../api/reasons.ts';
import type { Condition } from '../../../api/resource.ts';
import type { EventInput } from '../../../kube/index.ts';
import { conditionsOf, type Verdict } from './verdict.ts';

/** What a pass wants status to say. */
export interface StatusWish {
  verdict: Verdict;
  /** Status fields to set; an undefined member takes the field away. */
  fields: Readonly<Record<string, unknown>>;
}

/** What every status of ours has. */
export interface AnyStatus {
  observedGeneration: number;
  conditions?: Condition[] | undefined;
  lastHandledRequest?: string | undefined;
}

/**
 * The status as it shall be: what is there, the fields, the conditions.
 *
 * @param generation - the one that the wish speaks of, which is not the newest when somebody changed the spec
 * in the middle of the pass.
 */
export function nextStatus<S extends AnyStatus>(
  status: S,
  wish: StatusWish,
  generation: number,
  now: string,
): S {
  return {
    ...status,
    ...wish.fields,
    observedGeneration: Math.max(generation, status.observedGeneration),
    conditions: conditionsOf(wish.verdict, { generation, current: status, now }),
  };
}

/** The event that a change of the leading condition is worth, or undefined. */
export function eventOf(
  before: readonly Condition[] | undefined,
  after: readonly Condition[],
  regarding: EventInput['regarding'],
): EventInput | undefined {
  const told = leadingCondition(after);
  const toldBefore = leadingCondition(before ?? []);
  if (told === undefined) return undefined;
  if (toldBefore?.type === told.type && toldBefore.reason === told.reason) return undefined;
  return {
    regarding,
    type: told.type === CONDITIONS.stalled ? 'Warning' : 'Normal',
    reason: told.reason,
    action: factsOf(told.reason as Parameters<typeof factsOf>[0]).also ?? 'Reconciled',
    note: told.message,
  };
}

/** The condition that says most: why it is stuck, what goes on, or that all is well. */
export function leadingCondition(conditions: readonly Condition[]): Condition | undefined {
  for (const type of [CONDITIONS.stalled, CONDITIONS.reconciling, CONDITIONS.ready]) {
    const found = conditions.find((condition) => condition.type === type);
    if (found !== undefined) return found;
  }
  return undefined;
}
