import { verdict } from '../../record/status/verdict.ts';
import type { InstanceObservation } from '../decide.ts';
import { releasedMark } from '../lease/note.ts';
import { accepts, phaseOf, type Pair } from '../pair.ts';
import { isLeftToService, releasedNow } from './lease.ts';
import type { AspectState } from './state.ts';

/** Whether the machines run: a schedule decides, then a lease that has ended, then powerState. Pure. */
export function decidePower(seen: InstanceObservation, pair: Pair): AspectState {
  const phase = phaseOf(pair);
  if (phase === 'Failed') return { kind: 'held', verdict: failedVerdict(seen, pair) };
  const { spec, status, armedHash, scheduled } = seen;
  if (scheduled?.kind === 'left') return { kind: 'inForce' };
  if (scheduled?.kind === 'unknownZone') {
    return { kind: 'held', verdict: verdict('NotSupported', scheduled.message, seen.poll.settledMs) };
  }
  if (scheduled === undefined && isHeldByLease(seen, phase === 'Online')) return { kind: 'inForce' };
  const want = scheduled?.power ?? spec.powerState;
  const have = phase === 'Online' ? 'Running' : 'Stopped';
  const operation = want === 'Running' ? 'poweron' : 'shutdown';
  if (want === undefined || want === have) return { kind: 'inForce', fingerprint: operation };
  const differences = [{ field: scheduled === undefined ? 'powerState' : 'schedule', want, have }];
  if (status.armed === armedHash && seen.drift !== 'Correct') return { kind: 'inForce', drift: differences };
  const applies =
    operation === 'poweron' && spec.applyChanges === 'Reconfigure' && seen.appliedHash !== seen.hash;
  const hash = applies && seen.variablesPut ? { hash: seen.hash } : {};
  return {
    kind: 'steps',
    steps: [{ step: { do: 'begin', operation, ...hash }, fingerprint: operation, differences }],
  };
}

/** A lease that has ended decides over power until something arms it anew. */
export function isHeldByLease(seen: InstanceObservation, online: boolean): boolean {
  const released = releasedNow(seen);
  const due = released !== undefined && !(online && isLeftToService(seen, released));
  return due || seen.status.armed === releasedMark(seen.armedHash);
}

function failedVerdict(seen: InstanceObservation, pair: Pair): ReturnType<typeof verdict> {
  const last = seen.status.lastOperation;
  const told = last?.outcome === 'Failed' ? last.message : undefined;
  return verdict('OperationFailed', failedMessage(pair, told), seen.poll.settledMs);
}

/** That an operation failed, with the words of its log, and what a person can do about it. */
export function failedMessage(pair: Pair, told: string | undefined): string {
  return `${pair.event} failed${told === undefined ? '' : `: ${told}`}. ${wayOut(pair)}`;
}

function wayOut(pair: Pair): string {
  const request = accepts('deploy', pair) ? 'redeploy' : accepts('reinstall', pair) ? 'reinstall' : undefined;
  return request === undefined
    ? 'The service takes nothing from here but its end: act there, or delete this resource'
    : `Mend the cause, then change the resource or ask again with boxwright.dev/request-${request}`;
}
