import { CONDITIONS, factsOf, type Reason } from '../../../api/reasons.ts';
import { leadingCondition, type AnyStatus } from './next-status.ts';

/** One line of the log about what became of a resource. */
export interface Transition {
  level: 'info' | 'debug';
  /** Such as `Stalled: NameTaken`. */
  message: string;
  fields: Readonly<Record<string, unknown>>;
}

interface Working extends AnyStatus {
  id?: string;
  currentOperation?: { event: string; startedAt: string };
  lastOperation?: { event: string; outcome: string; endedAt?: string };
}

/**
 * What a person who reads the log wants to know of a write of status: another leading reason, a record, an operation
 * that has begun or ended. Undefined for everything else.
 */
export function transitionOf(kind: string, before: AnyStatus, after: AnyStatus): Transition | undefined {
  const [was, is]: [Working, Working] = [before, after];
  const told = leadingCondition(after.conditions ?? []);
  const toldBefore = leadingCondition(before.conditions ?? []);
  if (told === undefined) return undefined;
  const begun = is.currentOperation;
  const ended = is.lastOperation;
  const news = {
    ...(is.id === was.id ? {} : { record: is.id === undefined ? 'gone' : 'known' }),
    ...(begun === undefined || isSame(begun, was.currentOperation) ? {} : { begun: begun.event }),
    ...(ended === undefined || isSame(ended, was.lastOperation)
      ? {}
      : { ended: ended.event, outcome: ended.outcome }),
  };
  const hasTurned = toldBefore?.type !== told.type || toldBefore.reason !== told.reason;
  if (!hasTurned && Object.keys(news).length === 0) return undefined;
  return {
    level: Object.keys(news).length === 0 && isCommon(kind, told.reason) ? 'debug' : 'info',
    message: `${told.type}: ${told.reason}`,
    fields: { ...(is.id === undefined ? {} : { id: is.id }), ...news, ...why(told) },
  };
}

/** The message says why, where it is not well. */
function why({ type, message }: { type: string; message: string }): object {
  return type === CONDITIONS.ready || message === '' ? {} : { why: message };
}

/** The first word of each generation, and what befalls all resources of a connection at once: that one tells. */
function isCommon(kind: string, reason: string): boolean {
  if (reason === 'Pending') return true;
  return kind !== 'Connection' && reason !== 'Paused' && factsOf(reason as Reason).ready === 'AsBefore';
}

function isSame(a: object, b: object | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
