import type { Connection } from '../../api/connection.ts';
import type { ExtraCondition, Verdict } from '../record/status/verdict.ts';

/** What a pass over a connection found. */
export interface Found {
  verdict: Verdict;
  fields: Partial<Connection['status']>;
  /** Undefined: not known, so not shown. */
  reached?: boolean;
  letIn?: boolean;
  /** What a probe that went well has found. */
  ready?: Ready;
  /** The same with credentials that were kept for deletions, which nothing else may use. */
  good?: Ready;
}

/** What users of a connection need to know of the account. */
export interface Ready {
  workspace: string;
  schemaBase: string;
  user: string | undefined;
  account: string | undefined;
}

/** What holds while the service has not answered as it should: what was found before is not forgotten for that. */
export function heldBack(said: Verdict, known: Found | undefined): Found {
  if (said.reason === 'CredentialsRejected')
    return { verdict: said, fields: {}, reached: true, letIn: false };
  const { fields = {}, ready } = known ?? {};
  const reached = said.reason !== 'ServiceUnavailable';
  return { verdict: said, fields, reached, ...(ready === undefined ? {} : { ready }) };
}

/** The same, looked at again in time for what asks for a look. */
export function soon(found: Found, ms: number | undefined): Found {
  if (ms === undefined) return found;
  const recheckAfterMs = Math.min(ms, found.verdict.recheckAfterMs ?? ms);
  return { ...found, verdict: { ...found.verdict, recheckAfterMs } };
}

/** How far a look came. */
export function reachOf({
  reached,
  letIn,
}: {
  reached: boolean;
  letIn: boolean | undefined;
}): Pick<Found, 'reached' | 'letIn'> {
  return letIn === undefined ? { reached } : { reached, letIn };
}

/** What Reachable and CredentialsValid say of it. */
export function reachConditions(found: Found): ExtraCondition[] {
  const { message } = found.verdict;
  const out: ExtraCondition[] = [];
  if (found.reached !== undefined) {
    out.push(
      found.reached
        ? { type: 'Reachable', reason: 'Answered', message: 'The service answers' }
        : { type: 'Reachable', status: 'False', reason: found.verdict.reason, message },
    );
  }
  if (found.reached === true && found.letIn !== undefined) {
    out.push(
      found.letIn
        ? { type: 'CredentialsValid', reason: 'CredentialsAccepted', message: 'The credentials are accepted' }
        : { type: 'CredentialsValid', status: 'False', reason: found.verdict.reason, message },
    );
  }
  return out;
}
