import type { Priority } from '../base/priority.ts';
import type { ServiceError } from './errors.ts';

/**
 * What a read brought. `startedAt` is the client's stamp (milliseconds on the monotonic clock, strictly
 * increasing over all calls of one client) taken when the request went out, so it can be compared with the
 * `endedAt` of a write: a read that started later has seen that write, but for the service's own lag.
 */
export type Read<T> =
  | {
      kind: 'found';
      record: T;
      startedAt: number;
      /** Of a list: the memory that it takes, bytes. */
      weight?: number;
    }
  /** One 404. No proof of absence: that needs more looks (controllers/record). */
  | { kind: 'missing'; startedAt: number }
  /** Anything else, 403 and an answer that does not parse included. Nothing may be concluded from it. */
  | { kind: 'unknown'; error: ServiceError };

/** What a write brought. `startedAt` and `endedAt` are stamps as in {@link Read}. */
export type Write<T> =
  /** Accepted (200, 201, 202, 204). `record` is the answer's record, where there was one: else read again. */
  | {
      kind: 'ok';
      record: T | undefined;
      startedAt: number;
      endedAt: number;
      /** Texts of Warning headers, a few and short, without secrets; absent where there were none. */
      warnings?: readonly string[];
    }
  /** Answered with a no: certainly without effect. */
  | { kind: 'refused'; error: ServiceError; startedAt: number; endedAt: number }
  /** Certainly not carried out, because it did not get there or was turned away unread (429). */
  | { kind: 'notSent'; error: ServiceError }
  /** Nobody knows: time-out, broken connection, 5xx, an answer that makes no sense. */
  | { kind: 'unknown'; error: ServiceError; startedAt: number; endedAt: number };

/** What every call of a family takes. */
export interface CallOptions {
  /** @default in the normal lane */
  priority?: Priority | undefined;
  /** Ends the call; it then rejects with the signal's reason, the only way in which a family throws. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the call itself, waiting for its turn not counted. Default: the client's limit. */
  timeoutMs?: number | undefined;
  /** Called with the stamp when the request goes out. */
  onStart?: ((startedAt: number) => void) | undefined;
}
