import type { Clock, Random } from '../base/clock.ts';
import { KubeApiError, statusOf } from './errors.ts';
import { KubeTransportError, type KubeAnswer, type KubePort, type KubeRequest } from './port.ts';
import { retryDelay, type Failure } from './retry.ts';

/** A call about to be made again. */
export interface Retry {
  method: string;
  path: string;
  /** Tries made so far. */
  tries: number;
  delayMs: number;
  failure: Failure;
}

/** What every retrying call needs. */
export interface RetryOptions {
  clock: Clock;
  random: Random;
  /**
   * Tries per call, the first included.
   * @defaultValue 5
   */
  maxTries?: number;
  /** Called before each further try, for metrics and the debug log. */
  onRetry?: (retry: Retry) => void;
}

/**
 * Makes one call, and makes it again as `retry.ts` allows.
 * @returns an answer of success
 * @throws KubeApiError for any other answer, KubeTransportError for none, the signal's reason when aborted
 */
export async function callWithRetries(
  port: KubePort,
  request: KubeRequest,
  options: RetryOptions & { idempotent: boolean; signal: AbortSignal | undefined },
): Promise<KubeAnswer> {
  const { clock, random, maxTries = 5, onRetry, idempotent, signal } = options;
  const { method, path } = request;
  const sent: KubeRequest = signal === undefined ? request : { ...request, signal };
  let maybeApplied = false;
  for (let tries = 1; ; tries++) {
    const outcome = await attempt(port, sent);
    if (outcome.kind === 'answer') return outcome.answer;
    const delayMs = retryDelay(outcome, { idempotent, tries, maxTries, random });
    if (delayMs === undefined) {
      if (outcome.kind === 'transport') throw outcome.error;
      throw new KubeApiError(outcome.status, { method, path, maybeApplied });
    }
    maybeApplied ||= outcome.kind === 'transport' ? outcome.error.maybeSent : outcome.status.status >= 500;
    onRetry?.({ method, path, tries, delayMs, failure: outcome });
    await clock.sleep(delayMs, signal);
  }
}

async function attempt(
  port: KubePort,
  request: KubeRequest,
): Promise<Failure | { kind: 'answer'; answer: KubeAnswer }> {
  let answer: KubeAnswer;
  try {
    answer = await port.request(request);
  } catch (error) {
    if (error instanceof KubeTransportError) return { kind: 'transport', error };
    throw error;
  }
  if (answer.status >= 200 && answer.status < 300) return { kind: 'answer', answer };
  return { kind: 'status', status: statusOf(answer.status, answer.body, answer.headers) };
}
