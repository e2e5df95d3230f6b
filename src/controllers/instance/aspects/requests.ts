import type { RequestedOperation } from '../../../api/names.ts';
import { REQUESTED_OPERATIONS } from '../../../api/words.ts';
import type { InstanceOperationName } from '../../../service/index.ts';
import type { InstanceObservation } from '../decide.ts';
import { accepts, phaseOf, type Pair } from '../pair.ts';
import type { AspectState, InstanceStep } from './state.ts';

/** Operations that annotations ask for, each token once. Pure. */
export function decideRequests(seen: InstanceObservation, pair: Pair): AspectState {
  const open = Object.entries(seen.requests) as [RequestedOperation, string][];
  const steps = open
    .filter(([of, value]) => seen.handled[of] !== value)
    .map(([of, value]) => ({
      step: requested(seen, of, value, pair),
      fingerprint: `${of}:${value}`,
      differences: [{ field: `request-${of}`, want: 'carried out', have: 'not carried out' }],
    }));
  return steps.length === 0 ? { kind: 'inForce' } : { kind: 'steps', steps };
}

function requested(
  seen: InstanceObservation,
  of: RequestedOperation,
  value: string,
  pair: Pair,
): InstanceStep {
  const operation = REQUESTED_OPERATIONS.toService(of) as InstanceOperationName;
  if (accepts(operation, pair)) {
    const hash = of === 'redeploy' ? { hash: seen.hash } : {};
    return { do: 'begin', operation, token: { of, value }, ...hash };
  }
  const message =
    of === 'redeploy'
      ? 'redeploy is for an instance whose deploy has failed'
      : `the instance is ${phaseOf(pair)}, and ${of} needs it online`;
  return { do: 'refuseRequest', of, value, message };
}
