import type { Instance } from '../../api/instance.ts';
import { parseDuration } from '../../base/duration.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { RemovalStep } from '../record/kind.ts';
import { verdict } from '../record/status/verdict.ts';
import { pairOf, phaseOf } from './pair.ts';

/** Terminate is sent this often to an instance whose terminate failed, before force. */
const TERMINATE_TRIES = 3;

/** What a deletion step is decided from. */
export interface RemovalObservation {
  instance: Instance;
  /** Read afresh. */
  record: InstanceRecord;
  deletion: string;
  /** Whether the service has answered this call with 409 in this very state. */
  isRefused: (how: string) => boolean;
  terminateNoted: number | undefined;
  /** Wall time, milliseconds. */
  now: number;
  processingMs: number;
}

/** What a deletion does next, by the pair. Pure. */
export function decideRemoval(seen: RemovalObservation): RemovalStep<Instance> {
  const { instance, record } = seen;
  const pair = pairOf(record);
  const phase = phaseOf(pair);
  const force = instance.spec.forceTerminateAfter;

  if (phase === 'Terminated') {
    if (seen.deletion === 'Terminate')
      return { kind: 'release', why: 'The instance is terminated; its record stays' };
    return send('delete');
  }
  if (pair.state === 'processing') {
    const since = Date.parse(instance.metadata.deletionTimestamp ?? '');
    if (force !== undefined && seen.now - since > parseDuration(force)) return send('force_terminate');
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
    if (tries > 0 && seen.terminateNoted === tries) return send('terminate');
    if (tries < TERMINATE_TRIES) return { kind: 'note', fields: { terminateTries: tries + 1 } };
    if (force !== undefined) return send('force_terminate');
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
  // No script can run on what is not online, so what is refused there is forced.
  return send(phase !== 'Online' && seen.isRefused('terminate') ? 'force_terminate' : 'terminate');
}

function send(how: string): RemovalStep<Instance> {
  return { kind: 'send', how };
}
