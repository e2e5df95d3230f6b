import type { ServiceError, Write } from '../../service/index.ts';
import type { Aspect, Attempts, Held } from './attempts.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** A 401 at one write while the Connection lets other calls through: asked once more, then it is a refusal of that write. */
const UNAUTHORIZED_LIMIT = 2;

/** What was tried, for the ledger. */
export interface Attempt {
  attempts: Attempts;
  aspect: Aspect;
  fingerprint: string;
  /** What it is sent by, where other aspects use the same. */
  call?: string;
}

/** What to say of a write that the service has answered with a no. */
export interface RefusalWords {
  refused: (message: string) => Verdict;
  /** Of a 409; absent: a refusal like others. */
  conflict?: Verdict;
  /** The state that a 409 was answered in. */
  at?: string;
}

/** What a failed call means for a resource that waits for it. */
export function failureVerdict(error: ServiceError): Verdict {
  switch (error.code) {
    case 'Throttled':
      return verdict('Throttled', error.message);
    case 'CredentialsRejected':
    case 'CredentialsUnusable':
    case 'Closed':
      return verdict('WaitingForConnection', error.message);
    case 'Unreachable':
    case 'Timeout':
    case 'Broken':
    case 'ServerError':
    case 'BreakerOpen':
    case 'Tls':
      return verdict('ServiceUnavailable', error.message);
    default:
      return verdict('Unknown', error.message);
  }
}

/** Notes a write that was not accepted, and answers what to say and when to look again. */
export function notAccepted(
  write: Exclude<Write<unknown>, { kind: 'ok' }>,
  attempt: Attempt,
  words: RefusalWords,
): Verdict {
  const { error } = write;
  const { attempts, aspect, fingerprint } = attempt;
  if (write.kind !== 'refused') return failed(error, attempt);
  const isUnauthorized = isAboutCredentials(error);
  if (isUnauthorized && attempts.tries(aspect, fingerprint) + 1 < UNAUTHORIZED_LIMIT) {
    return failed(error, attempt);
  }
  const refusal = words.refused(error.message);
  if (error.class === 'Conflict' && words.conflict !== undefined) {
    return attempts.conflict(aspect, fingerprint, words.at ?? '', words.conflict, refusal);
  }
  return attempts.refused(aspect, fingerprint, refusal, isUnauthorized || error.code === 'Forbidden');
}

/** Notes a failure that may pass by itself. What was not even sent is no try, and waits for as long as it was told. */
export function failed(error: ServiceError, { attempts, aspect, fingerprint, call }: Attempt): Verdict {
  const said = failureVerdict(error);
  const turnedAway =
    error.code === 'BreakerOpen' || (error.code === 'Throttled' && error.status === undefined);
  return turnedAway
    ? attempts.postponed(aspect, fingerprint, said, error.retryAfterMs)
    : attempts.failed(aspect, fingerprint, said, error.retryAfterMs, call);
}

/** What to say of something that waits for its next try. */
export function heldVerdict(held: Held, otherwise: () => Verdict): Verdict {
  return { ...(held.verdict ?? otherwise()), recheckAfterMs: held.retryAfterMs };
}

/** The refusal of what a person can change. */
export function refusedVerdict(message: string): Verdict {
  return verdict(
    'Refused',
    `${message}. Change what it speaks of, or what the account may do; it is tried again on a change, and slowly`,
  );
}

/** Whether an answer speaks of the credentials or of who is let in, not of what was sent. */
export function isAboutCredentials(error: ServiceError): boolean {
  return error.code === 'CredentialsRejected' || error.code === 'CredentialsUnusable';
}
