import type { Instance } from '../../api/instance.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { Pass, StatusFields } from '../record/kind.ts';
import type { InstanceMemory } from './memory.ts';
import { phaseOf, reasonOfRunning } from './pair.ts';

/** One pass over one Instance. */
export type InstancePass = Pass<Instance, InstanceRecord, InstanceMemory>;

/** Status fields of an Instance. */
export type InstanceFields = StatusFields<Instance>;

/** The reason that goes with an operation while it runs. */
export function runningReason(event: string): NonNullable<ReturnType<typeof reasonOfRunning>> {
  return reasonOfRunning(phaseOf({ state: 'processing', event })) ?? 'Reconfiguring';
}
