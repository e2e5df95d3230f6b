import { CONDITIONS, factsOf } from '../../api/reasons.ts';
import type { RecordStatus } from '../../api/fields/status.ts';
import type { Condition } from '../../api/resource.ts';
import { statusPatch } from '../../kube/index.ts';
import type { EventInput } from '../../kube/index.ts';
import type { ManagedResource } from './resource.ts';
import { conditionsOf, type Verdict } from './verdict.ts';

/** What a pass wants status to say. */
export interface StatusWish {
  verdict: Verdict;
  /** Status fields to set; an undefined member takes the field away. */
  fields: Readonly<Record<string, unknown>>;
}

/** The status as it shall be: what is there, the fields, the conditions, the generation. */
export function nextStatus<S extends { observedGeneration: number; conditions?: Condition[] | undefined }>(
  resource: { metadata: { generation: number }; status: S },
  wish: StatusWish,
  now: string,
): S {
  return {
    ...resource.status,
    ...wish.fields,
    observedGeneration: resource.metadata.generation,
    conditions: conditionsOf(wish.verdict, {
      generation: resource.metadata.generation,
      current: resource.status,
      now,
    }),
  };
}

/** The patch that brings status there; undefined when it says all that already. */
export function patchTo(resource: ManagedResource, next: RecordStatus): object | undefined {
  return statusPatch(resource.status, next);
}

/** The event that a change of Ready is worth, or undefined. */
export function eventOf(
  before: readonly Condition[] | undefined,
  after: readonly Condition[],
  regarding: EventInput['regarding'],
): EventInput | undefined {
  const old = before?.find((condition) => condition.type === CONDITIONS.ready);
  const ready = after.find((condition) => condition.type === CONDITIONS.ready);
  const stalled = after.find((condition) => condition.type === CONDITIONS.stalled);
  const reconciling = after.find((condition) => condition.type === CONDITIONS.reconciling);
  const told = stalled ?? reconciling ?? ready;
  const oldTold =
    before?.find((condition) => condition.type === CONDITIONS.stalled) ??
    before?.find((condition) => condition.type === CONDITIONS.reconciling) ??
    old;
  if (told === undefined || (oldTold?.type === told.type && oldTold.reason === told.reason)) return undefined;
  return {
    regarding,
    type: stalled === undefined ? 'Normal' : 'Warning',
    reason: told.reason,
    action: factsOf(told.reason as Parameters<typeof factsOf>[0]).also ?? 'Reconciled',
    note: told.message,
  };
}
