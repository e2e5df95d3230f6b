import { factsOf, type CONDITIONS, type Reason } from '../../../api/reasons.ts';
import type { Condition } from '../../../api/resource.ts';
import { cutText } from '../../../base/text.ts';

/** What a pass concludes about a resource: one reason of the closed list, in words, and when to look again. */
export interface Verdict {
  reason: Reason;
  /** For people: what is so and what to do next. Nothing that moves, nothing secret. */
  message: string;
  /** Look again after so many milliseconds at the latest; absent: only when something changes. */
  recheckAfterMs?: number;
  /** Conditions beside Ready, Reconciling and Stalled. */
  extra?: readonly ExtraCondition[];
  /** The present generation declares what was applied last: a reason that leaves Ready as it was keeps it. */
  keepsReady?: boolean;
  /** Whether the resource is as declared is not known, whatever it was before. */
  doubtsReady?: boolean;
}

/** A condition beside the three: LeaseExpiring or Drifted only while True, Reachable of a Connection always. */
export interface ExtraCondition {
  type: (typeof CONDITIONS)[keyof typeof CONDITIONS];
  /** @defaultValue True */
  status?: Condition['status'];
  reason: Reason;
  message: string;
}

/** The longest message that goes into a condition, characters. */
const MESSAGE_LIMIT = 2_048;

/** Makes a verdict. */
export function verdict(reason: Reason, message: string, recheckAfterMs?: number): Verdict {
  return recheckAfterMs === undefined ? { reason, message } : { reason, message, recheckAfterMs };
}

/** Where a verdict lands. */
export interface ConditionContext {
  generation: number;
  /** What status says now. */
  current: { observedGeneration: number; conditions?: readonly Condition[] | undefined };
  /** RFC 3339, for conditions whose status changes. */
  now: string;
}

/**
 * The conditions that a verdict makes of what status says now. Ready is always there; Reconciling and Stalled
 * only while True and never both; lastTransitionTime moves only when a status does. A reason that leaves Ready
 * as it was keeps it True only when the present generation has been applied.
 */
export function conditionsOf(said: Verdict, context: ConditionContext): Condition[] {
  const rule = factsOf(said.reason);
  const old = new Map((context.current.conditions ?? []).map((condition) => [condition.type, condition]));
  const settled = said.keepsReady === true || context.current.observedGeneration === context.generation;
  const wasReady = old.get('Ready');
  const doubted = said.doubtsReady === true;
  const kept = !doubted && rule.ready === 'AsBefore' && settled && wasReady?.status === 'True';
  const next: Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>[] = [
    // Where no other condition tells, Ready has to: a pause would not show anywhere.
    kept && rule.also !== undefined
      ? { type: 'Ready', status: 'True', reason: wasReady.reason, message: wasReady.message }
      : {
          type: 'Ready',
          status: doubted ? 'Unknown' : kept ? 'True' : rule.ready === 'AsBefore' ? 'False' : rule.ready,
          reason: said.reason,
          message: cutText(said.message, MESSAGE_LIMIT),
        },
  ];
  if (rule.also !== undefined) {
    next.push({
      type: rule.also,
      status: 'True',
      reason: said.reason,
      message: cutText(said.message, MESSAGE_LIMIT),
    });
  }
  for (const extra of said.extra ?? []) {
    next.push({
      type: extra.type,
      status: extra.status ?? 'True',
      reason: extra.reason,
      message: cutText(extra.message, MESSAGE_LIMIT),
    });
  }
  return next
    .map((condition) => {
      const before = old.get(condition.type);
      return {
        ...condition,
        observedGeneration: context.generation,
        lastTransitionTime:
          before !== undefined && before.status === condition.status
            ? before.lastTransitionTime
            : context.now,
      };
    })
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
}
