import { rfc3339 } from '../../../base/rfc3339.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import { verdict } from '../../record/status/verdict.ts';
import { pairOf, sameOperation } from '../pair.ts';
import type { InstanceFields, InstancePass } from '../pass.ts';
import { readTelling } from './telling.ts';

/** What is new of the last operation, and when to ask for the words of its failure again, milliseconds. */
export interface Ended {
  lastOperation?: NonNullable<InstanceFields['lastOperation']>;
  askAgainMs: number;
}

/**
 * What status does not say yet of the last operation: the end of the first deploy, which has no currentOperation, and
 * the words of a failure whose log could not be read at its end, or said nothing. They are asked for ever less often.
 */
export async function endedOperation(pass: InstancePass, record: InstanceRecord): Promise<Ended> {
  const { attempts } = pass.memory;
  const { lastOperation: last } = pass.resource.status;
  const { state, event } = pairOf(record);
  const isFailed = state === 'unavailable';
  if (last === undefined && event !== 'deploy') return { askAgainMs: Infinity };
  const isUntold = last?.outcome === 'Failed' && last.message === undefined;
  if (last !== undefined && !(isUntold && isFailed && sameOperation(last.event, event))) {
    return { askAgainMs: Infinity };
  }
  const ended =
    last ?? ({ event, outcome: isFailed ? 'Failed' : 'Succeeded', endedAt: rfc3339(pass.now) } as const);
  if (!isFailed) return { lastOperation: ended, askAgainMs: Infinity };
  const fingerprint = `log of ${event}/${record.operation?.created}`;
  const held = attempts.held('read', fingerprint);
  const message = held === undefined ? await readTelling(pass, record, ended.event) : undefined;
  if (message !== undefined) {
    attempts.succeeded('read', fingerprint);
    return { lastOperation: { ...ended, message }, askAgainMs: Infinity };
  }
  const { recheckAfterMs = Infinity } =
    held === undefined
      ? attempts.missed('read', fingerprint, verdict('OperationFailed', 'The log says nothing yet'))
      : { recheckAfterMs: held.retryAfterMs };
  return { ...(last === undefined ? { lastOperation: ended } : {}), askAgainMs: recheckAfterMs };
}
