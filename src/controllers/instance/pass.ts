import type { Instance } from '../../api/instance.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { Convergence, Pass, StatusFields } from '../record/kind.ts';
import { verdict } from '../record/status/verdict.ts';
import type { InstanceMemory } from './memory.ts';
import { phaseOf, reasonOfRunning } from './pair.ts';

/** One pass over one Instance. */
export type InstancePass = Pass<Instance, InstanceRecord, InstanceMemory>;

/** Status fields of an Instance. */
export type InstanceFields = StatusFields<Instance>;

/** What a list shows is acted upon only once the record was read singly. */
export const AFRESH: Convergence<Instance> = {
  verdict: verdict('Updating', 'The record is read before it is acted upon'),
  fields: {},
  afresh: true,
};

/** The reason that goes with an operation while it runs. */
export function runningReason(event: string): NonNullable<ReturnType<typeof reasonOfRunning>> {
  return reasonOfRunning(phaseOf({ state: 'processing', event })) ?? 'Reconfiguring';
}
