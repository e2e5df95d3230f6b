import { parseRetryAfter } from '../base/retry-after.ts';

/** One entry of a Status' `details.causes`. */
export interface StatusCause {
  /** `FieldValueInvalid`, `FieldManagerConflict` … */
  reason: string;
  message: string;
  /** Path of the field, such as `spec.owner`. */
  field: string;
}

/** The parts of a Kubernetes Status object that decide what to do next. */
export interface StatusParts {
  status: number;
  /** `NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired` …; empty when the answer was no Status. */
  reason: string;
  message: string;
  causes: readonly StatusCause[];
  /** How long the server asked to wait, milliseconds. */
  retryAfterMs: number | undefined;
}

const MAX_MESSAGE = 1_024;
const MAX_CAUSES = 16;

/**
 * Thrown when the API server answered with anything but success. Holds method, path and the server's own
 * words, cut to a length; never a request body.
 */
export class KubeApiError extends Error {
  readonly code = 'KubeApi';
  readonly status: number;
  readonly reason: string;
  /** The server's own words, without method and path. */
  readonly statusMessage: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;
  readonly method: string;
  /** API path without query. */
  readonly path: string;
  /**
   * True when an earlier try of this call got no answer: the refusal may be the echo of its own effect, such
   * as a conflict with the version that the lost answer made. Look before deciding.
   */
  readonly maybeApplied: boolean;

  constructor(parts: StatusParts, call: { method: string; path: string; maybeApplied?: boolean }) {
    super(`${call.method} ${call.path}: ${parts.status} ${parts.reason}: ${parts.message}`);
    this.name = 'KubeApiError';
    this.status = parts.status;
    this.reason = parts.reason;
    this.statusMessage = parts.message;
    this.causes = parts.causes;
    this.retryAfterMs = parts.retryAfterMs;
    this.method = call.method;
    this.path = call.path;
    this.maybeApplied = call.maybeApplied ?? false;
  }

  get isNotFound(): boolean {
    return this.status === 404;
  }

  /** A write met a newer version or another uid, or an apply met another manager's field. */
  get isConflict(): boolean {
    return this.status === 409 && this.reason !== 'AlreadyExists';
  }

  get isAlreadyExists(): boolean {
    return this.status === 409 && this.reason === 'AlreadyExists';
  }

  /** Schema, CEL rule or admission policy refused the object: trying again changes nothing. */
  get isInvalid(): boolean {
    return this.status === 422 || this.status === 400;
  }

  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }

  /** The resource version or continue token is too old. */
  get isGone(): boolean {
    return this.status === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }
}

/**
 * Reads an answer's Status. Works for anything a proxy in between may have put there.
 * @param body - as {@link KubeAnswer.body}
 * @param headers - names in lower case; `retry-after` in seconds, the only form Kubernetes uses
 */
export function statusOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): StatusParts {
  const object = record(body);
  const details = record(object['details']);
  const isStatus = object['kind'] === 'Status';
  const message = isStatus ? text(object['message']) : '';
  return {
    status: isStatus && status === 200 && typeof object['code'] === 'number' ? object['code'] : status,
    reason: isStatus ? text(object['reason']).slice(0, 64) : '',
    message: (message === '' ? 'the answer was no Kubernetes Status' : message).slice(0, MAX_MESSAGE),
    causes: array(details['causes'])
      .slice(0, MAX_CAUSES)
      .map((cause) => ({
        reason: text(record(cause)['reason']),
        message: text(record(cause)['message']).slice(0, MAX_MESSAGE),
        field: text(record(cause)['field']),
      })),
    retryAfterMs:
      parseRetryAfter(headers['retry-after']) ?? parseRetryAfter(numeral(details['retryAfterSeconds'])),
  };
}

function numeral(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
