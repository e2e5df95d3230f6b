import { backoffMs, type Curve } from '../base/backoff.ts';
import type { Random } from '../base/clock.ts';
import type { StatusParts } from './errors.ts';
import type { KubeTransportError } from './port.ts';

/** How one try of a call ended, when it did not end well. */
export type Failure =
  { kind: 'status'; status: StatusParts } | { kind: 'transport'; error: KubeTransportError };

/** What {@link retryDelay} weighs. */
export interface RetryContext {
  /** Whether sending the same call again cannot do more than sending it once. */
  idempotent: boolean;
  /** Tries made so far, the failed one included. */
  tries: number;
  maxTries: number;
  random: Random;
}

const BACKOFF: Curve = { firstMs: 100, longestMs: 5_000, jitter: 0.5 };
const RETRY_AFTER_CAP_MS = 30_000;

/**
 * Milliseconds until the call may be sent again, or undefined when the failure is the answer.
 *
 * - 429, and 503 with Retry-After: the server says that it did nothing; again, whatever the verb.
 * - not sent at all: again.
 * - 500, 502, 503, 504, lost answer: again only when idempotent, for the effect may have happened.
 * - 409 never: the caller's view is old, and only the caller can look afresh. All else never.
 */
export function retryDelay(failure: Failure, context: RetryContext): number | undefined {
  if (context.tries >= context.maxTries) return undefined;
  const waitMs = (askedMs?: number): number => backoffMs(context.tries, BACKOFF, context.random, askedMs);
  if (failure.kind === 'transport') {
    return !failure.error.maybeSent || context.idempotent ? waitMs() : undefined;
  }
  const { status, retryAfterMs } = failure.status;
  const asked = retryAfterMs === undefined ? 0 : Math.min(retryAfterMs, RETRY_AFTER_CAP_MS);
  switch (status) {
    case 429:
      return waitMs(asked);
    case 503:
      return retryAfterMs !== undefined || context.idempotent ? waitMs(asked) : undefined;
    case 500:
    case 502:
    case 504:
      return context.idempotent ? waitMs(asked) : undefined;
    default:
      return undefined;
  }
}
