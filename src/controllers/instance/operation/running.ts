import type { InstanceRecord } from '../../../service/index.ts';
import type { InstanceMemory } from '../memory.ts';
import { pairOf, phaseOf, reasonOfRunning } from '../pair.ts';
import type { InstancePass } from '../pass.ts';
import type { Durations } from './durations.ts';

/** Notes that an operation is seen running, and learns from its end how long such a one takes. */
export function noteRunning(
  { memory, handle }: Pick<InstancePass, 'memory' | 'handle'>,
  record: InstanceRecord,
  durations: Durations,
  monotonic: number,
): void {
  const phase = phaseOf(pairOf(record));
  if (reasonOfRunning(phase) === undefined) {
    if (memory.running !== undefined) durations.note(handle.endpoint, record);
    memory.running = undefined;
  } else if (memory.running?.phase !== phase) {
    memory.running = { phase, since: monotonic };
  }
}

/**
 * For how long the operation has run by our clock, milliseconds: counted from the answer to the last write, which most
 * often was what began it.
 */
export function ranMs({ running, lastWriteEndedAt }: InstanceMemory, monotonic: number): number {
  return Math.max(0, monotonic - (lastWriteEndedAt ?? running?.since ?? monotonic));
}
