import type { Read, ServiceError, ServiceErrorCode } from '../../../service/index.ts';
import type { Memory } from '../memory.ts';
import { failed as noteFailed } from '../outcome.ts';
import { verdict, type Verdict } from '../status/verdict.ts';

/** What a search, an existence look or an adoption look came to, or why it came to nothing. */
export type Looked<T> = { kind: 'seen'; value: T; startedAt: number } | Failed;

/** `code`: what the call failed with. */
export type Failed = { kind: 'failed'; verdict: Verdict; code?: ServiceErrorCode };

/** Milliseconds a shared list may be old when nothing of ours can have been created in between. */
export const SHARED_LIST_AGE_MS = 30_000;

/** What of a pass a failure needs: the ledger that counts it. */
interface Failing {
  memory: Pick<Memory, 'attempts'>;
}

export function seen<T>(value: T, startedAt: number): Looked<T> {
  return { kind: 'seen', value, startedAt };
}

/** Notes a read that shows nothing; `missing`: what a 404 says. */
export function failedRead(
  read: Exclude<Read<unknown>, { kind: 'found' }>,
  pass: Failing,
  missing: string,
): Failed {
  if (read.kind === 'unknown') return failed(read.error, pass);
  return { kind: 'failed', verdict: pass.memory.attempts.failed('read', '', verdict('Unknown', missing)) };
}

/** Notes a look that an error ended. */
export function failed(error: ServiceError, { memory: { attempts } }: Failing): Failed {
  const said = noteFailed(error, { attempts, aspect: 'read', fingerprint: '' });
  return { kind: 'failed', verdict: said, code: error.code };
}
