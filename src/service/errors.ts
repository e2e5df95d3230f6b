/**
 * What can go wrong in a call to the service, one stable code per failure, and what each means for whoever
 * has to wait for it. The class steers the pace of the next try; the code is what status reasons are made of.
 */
export const serviceErrorClasses = {
  /** No connection: refused, no such host, no route, handshake broken off. Certainly not sent. */
  Unreachable: 'Retryable',
  /** The service's certificate was not accepted. Certainly not sent. */
  Tls: 'NeedsUser',
  /** The endpoint's host or address is one that the operator may not call. Certainly not sent. */
  NotAllowed: 'NeedsUser',
  /** No complete answer in time. */
  Timeout: 'Retryable',
  /** The connection broke before the answer was complete. */
  Broken: 'Retryable',
  /** The answer was larger than the limit, in bytes, in values, or in depth. */
  TooLarge: 'Retryable',
  /** The operator's memory for answers is taken by others for the time being. */
  MemoryFull: 'Retryable',
  /** The answer cannot be what the service says: no JSON, another record's id, a wrong type. */
  BadAnswer: 'Retryable',
  /** 3xx. Redirects are never followed, since they would carry the credential elsewhere. */
  Redirected: 'NeedsUser',
  /** 400, 405, 413, 422 and the like: the request as it stands will never be taken. */
  BadRequest: 'NeedsUser',
  /** The id cannot be put into a path. Certainly not sent. */
  BadId: 'NeedsUser',
  /** 401 after a fresh login, or with a fixed token, or from the login itself. */
  CredentialsRejected: 'NeedsUser',
  /** The token or the password has characters that cannot travel. Certainly not sent. */
  CredentialsUnusable: 'NeedsUser',
  /** 403; used loosely by the service for "gone or not yours" (service-behaviour.md 6). */
  Forbidden: 'NeedsUser',
  /** 404 as the answer to a write. */
  NotFound: 'Retryable',
  /** 409: the operation is not allowed in the present state, or the name is taken. */
  Conflict: 'Conflict',
  /** 429, or a wait that the service asked for before. */
  Throttled: 'Throttled',
  /** 5xx. */
  ServerError: 'Retryable',
  /** Not tried, since the last calls to this service failed; the cause is the last of these failures. */
  BreakerOpen: 'Retryable',
  /** Not sent: what was to be sent has changed since it was looked at. It is looked at again. */
  ContentChanged: 'Retryable',
  /** Not tried, since this client was closed. */
  Closed: 'Retryable',
} as const satisfies Record<string, ServiceErrorClass>;

export type ServiceErrorCode = keyof typeof serviceErrorClasses;

/** How a failed call is to be taken up again (classes of errors of the design). */
export type ServiceErrorClass = 'Retryable' | 'Throttled' | 'NeedsUser' | 'Conflict';

export interface ServiceErrorDetails {
  code: ServiceErrorCode;
  method: string;
  /** The path with placeholders, `/services/boxes/{box_id}`; never with ids, query or host. */
  template: string;
  status?: number | undefined;
  /** The service's own words; cleaned and cut here. */
  serviceMessage?: string | undefined;
  /** What to say beyond code and status; must hold nothing that is secret or moves. */
  detail?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The service's own message is cut to this many characters. */
export const maxServiceMessage = 512;

/**
 * A call to the service that did not bring what was asked for. It carries allow-listed facts only: no body,
 * no header, no query, no credential, no host. Handed back inside results, never thrown by the families.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  readonly class: ServiceErrorClass;
  readonly method: string;
  readonly template: string;
  readonly status: number | undefined;
  readonly serviceMessage: string | undefined;
  /** Milliseconds after which another try makes sense, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(details: ServiceErrorDetails) {
    const serviceMessage = cleanServiceMessage(details.serviceMessage);
    super(describe(details, serviceMessage), { cause: details.cause });
    this.name = 'ServiceError';
    this.code = details.code;
    this.class =
      details.code === 'BreakerOpen' && details.cause instanceof ServiceError
        ? details.cause.class
        : serviceErrorClasses[details.code];
    this.method = details.method;
    this.template = details.template;
    this.status = details.status;
    this.serviceMessage = serviceMessage;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The code to tell a user about: behind an open breaker, that of the failure that opened it. */
  get rootCode(): ServiceErrorCode {
    return this.code === 'BreakerOpen' && this.cause instanceof ServiceError
      ? this.cause.rootCode
      : this.code;
  }
}

/** Makes the service's text fit for a condition message: no control characters, one line, bounded. */
export function cleanServiceMessage(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // Cut before matching, so that a message of megabytes costs nothing.
  const clean = text
    .slice(0, maxServiceMessage * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim();
  if (clean === '') return undefined;
  const points = Array.from(clean);
  return points.length <= maxServiceMessage ? clean : `${points.slice(0, maxServiceMessage - 1).join('')}…`;
}

function describe(details: ServiceErrorDetails, serviceMessage: string | undefined): string {
  const call = `${details.method} ${details.template}`;
  const said = serviceMessage === undefined ? '' : `: ${serviceMessage}`;
  const extra = details.detail === undefined ? '' : ` (${details.detail})`;
  if (details.code === 'BreakerOpen') {
    const last =
      details.cause instanceof ServiceError ? `; the last failure was: ${details.cause.message}` : '';
    return `${call} was not sent, the service failed repeatedly${last}`;
  }
  if (details.status !== undefined)
    return `${call} answered ${details.status} ${details.code}${said}${extra}`;
  return `${call} failed with ${details.code}${said}${extra}`;
}
