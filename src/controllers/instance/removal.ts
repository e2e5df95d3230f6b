import type { Instance } from '../../api/instance.ts';
import { lookAgainMs } from '../../base/backoff.ts';
import { parseDuration } from '../../base/duration.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { RemovalStep } from '../record/kind.ts';
import { verdict } from '../record/status/verdict.ts';
import type { NextLook } from './operation/durations.ts';
import { pairOf, phaseOf, type Pair } from './pair.ts';

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
  /** For how long this process has seen the resource being deleted, milliseconds. */
  waitedMs: number;
  /** When the running operation can have ended. */
  nextLook: NextLook;
  /** How often the service is looked at, milliseconds. */
  poll: { processingMs: number; settledMs: number };
}

/** What a deletion does next, by the pair. Pure. */
export function decideRemoval(seen: RemovalObservation): RemovalStep<Instance> {
  const { instance, record, waitedMs } = seen;
  const pair = pairOf(record);
  const phase = phaseOf(pair);
  const { forceTerminateAfter } = instance.spec;
  const forceMs = forceTerminateAfter === undefined ? undefined : parseDuration(forceTerminateAfter);
  const laterMs = lookAgainMs(waitedMs, seen.poll.processingMs, seen.poll.settledMs);

  if (phase === 'Terminated') {
    return seen.deletion === 'Terminate' ? { kind: 'release' } : send('delete');
  }
  if (pair.state === 'processing') {
    if (forceMs !== undefined && waitedMs > forceMs) return send('force_terminate');
    const hint = forceMs === undefined ? '; spec.forceTerminateAfter would end it' : '';
    const message = `Waits for the end of ${pair.event} on the service${hint}`;
    const forcedInMs = forceMs === undefined ? Infinity : forceMs - waitedMs + 1;
    // What has run for long is looked at ever less often.
    const recheckAfterMs = Math.min(
      laterMs > seen.poll.processingMs ? laterMs : seen.nextLook.afterMs,
      forcedInMs,
    );
    const said = verdict('Deleting', message, recheckAfterMs);
    return { kind: 'wait', verdict: said, ...(seen.nextLook.isLearnt ? { quiet: true } : {}) };
  }
  const failedTerminate = pair.state === 'unavailable' && /^terminate(_service)?$/.test(pair.event);
  const isRefused = phase !== 'Online' && seen.isRefused('terminate');
  if (isRefused && runsNoScript(pair)) return send('force_terminate');
  if (failedTerminate || isRefused) {
    // The one that was refused first was not counted.
    const limit = failedTerminate ? TERMINATE_TRIES : TERMINATE_TRIES - 1;
    const tries = instance.status.terminateTries ?? 0;
    // Counted in status before it is sent, so that a crash cannot make it more than that.
    if (tries > 0 && seen.terminateNoted === tries) return send('terminate');
    if (tries < limit) return { kind: 'note', fields: { terminateTries: tries + 1 } };
    if (forceMs !== undefined) return send('force_terminate');
    return {
      kind: 'wait',
      verdict: verdict(
        'NeedsUser',
        `Terminate ${failedTerminate ? 'failed' : 'was refused'} ${TERMINATE_TRIES} times: set spec.forceTerminateAfter to end it without its scripts, or ` +
          `deletionPolicy Orphan to let go and keep the instance`,
        laterMs,
      ),
    };
  }
  return send('terminate');
}

/** Where nothing is on, a forced end skips no script that could run. */
function runsNoScript(pair: Pair): boolean {
  return (
    phaseOf(pair) === 'ShutDown' ||
    (pair.state === 'unavailable' && /^(deploy|shutdown|shutdown_service)$/.test(pair.event))
  );
}

function send(how: string): RemovalStep<Instance> {
  return { kind: 'send', how };
}
