import type { Instance } from '../../api/instance.ts';
import { parseDuration } from '../../base/duration.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { RemovalStep } from '../record/kind.ts';
import { verdict } from '../record/status/verdict.ts';
import type { InstanceMemory } from './memory.ts';
import { pairOf, phaseOf } from './pair.ts';

/** Terminate is sent this often to an instance whose terminate failed, before force. */
const TERMINATE_TRIES = 3;

/** What a deletion step is decided from. */
export interface RemovalObservation {
  instance: Instance;
  /** Read afresh. */
  record: InstanceRecord;
  deletion: string;
  removal: InstanceMemory['removal'];
  terminateNoted: number | undefined;
  /** Wall and monotonic time, milliseconds. */
  now: number;
  monotonic: number;
  lagWindowMs: number;
  processingMs: number;
}

/** What a deletion does next, by the pair. Pure. */
export function decideRemoval(seen: RemovalObservation): RemovalStep<Instance> {
  const { instance, record, removal } = seen;
  const pair = pairOf(record);
  const phase = phaseOf(pair);
  const force = instance.spec.forceTerminateAfter;

  if (phase === 'Terminated') {
    if (seen.deletion === 'Terminate')
      return { kind: 'release', why: 'The instance is terminated; its record stays' };
    return sendOnce(seen, 'delete');
  }
  if (pair.state === 'processing') {
    const since = Date.parse(instance.metadata.deletionTimestamp ?? '');
    if (force !== undefined && seen.now - since > parseDuration(force)) return forceOnce(seen);
    const hint = force === undefined ? '; spec.forceTerminateAfter would end it' : '';
    return {
      kind: 'wait',
      verdict: verdict(
        'Deleting',
        `Waits for the end of ${pair.event} on the service${hint}`,
        seen.processingMs,
      ),
    };
  }
  const failedTerminate = pair.state === 'unavailable' && /^terminate(_service)?$/.test(pair.event);
  if (failedTerminate) {
    const tries = instance.status.terminateTries ?? 0;
    // Counted in status before it is sent, so that a crash cannot make it more than that.
    if (tries > 0 && seen.terminateNoted === tries) return sendOnce(seen, 'terminate');
    if (tries < TERMINATE_TRIES) return { kind: 'note', fields: { terminateTries: tries + 1 } };
    if (force !== undefined) return sendOnce(seen, 'force_terminate');
    return {
      kind: 'wait',
      verdict: verdict(
        'NeedsUser',
        `Terminate failed ${TERMINATE_TRIES} times: set spec.forceTerminateAfter to end it without its scripts, or ` +
          `deletionPolicy Orphan to let go and keep the instance`,
        seen.processingMs,
      ),
    };
  }
  const refused =
    removal?.refused === true && removal.how === 'terminate' && removal.updated === record.updated;
  if (phase !== 'Online' && refused) return sendOnce(seen, 'force_terminate');
  return sendOnce(seen, 'terminate');
}

/** What was forced keeps processing for a while, and `updated` moves with it: it is not forced again at each move. */
function forceOnce(seen: RemovalObservation): RemovalStep<Instance> {
  const { removal, record } = seen;
  if (removal?.how !== 'force_terminate') return { kind: 'send', how: 'force_terminate' };
  return sendOnce({ ...seen, removal: { ...removal, updated: record.updated } }, 'force_terminate');
}

/**
 * Several terminate calls within seconds race on the service (service-behaviour.md 2.2), so the same call is
 * not sent twice while the record has not moved for less than a lag window.
 */
function sendOnce(seen: RemovalObservation, how: string): RemovalStep<Instance> {
  const { removal, record, monotonic, lagWindowMs } = seen;
  const same = removal?.how === how && !removal.refused && removal.updated === record.updated;
  if (same && monotonic - removal.at < lagWindowMs) {
    return {
      kind: 'wait',
      verdict: verdict(
        'Deleting',
        `Waits for the effect of ${how} on the service`,
        Math.min(lagWindowMs - (monotonic - removal.at), seen.processingMs),
      ),
    };
  }
  return { kind: 'send', how };
}
