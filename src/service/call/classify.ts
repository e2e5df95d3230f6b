import type { SecretSet } from '../../base/masking/secret-set.ts';
import type { ServiceErrorCode } from '../errors.ts';
import { maxServiceMessage, ServiceError } from '../errors.ts';
import type { PortAnswer, ServiceTransportError } from '../port.ts';
import { decodeJson, isObject } from './decode.ts';

/** What a failed call can have done on the service. */
export type Effect =
  /** Never arrived, or turned away unread. */
  | 'notSent'
  /** Answered with a no. */
  | 'refused'
  | 'unknown';

/** 4xx that do not say whether the request was carried out. */
const vague: ReadonlySet<number> = new Set([408, 499]);

/** What a status other than 2xx says about the effect of the call. */
export function effectOfStatus(status: number): Effect {
  if (status === 429) return 'notSent';
  if (status >= 300 && status < 500 && !vague.has(status)) return 'refused';
  return 'unknown';
}

/** The error code of a status other than 2xx. */
export function codeOfStatus(status: number): ServiceErrorCode {
  if (status >= 300 && status < 400) return 'Redirected';
  switch (status) {
    case 401:
      return 'CredentialsRejected';
    case 403:
      return 'Forbidden';
    case 404:
    case 410:
      return 'NotFound';
    case 408:
    case 499:
      return 'Timeout';
    case 409:
    case 412:
      return 'Conflict';
    case 429:
      return 'Throttled';
    default:
      if (status >= 400 && status < 500) return 'BadRequest';
      return status >= 500 && status < 600 ? 'ServerError' : 'BadAnswer';
  }
}

/** The error code of a call without an answer. */
export function codeOfTransport(error: ServiceTransportError): ServiceErrorCode {
  return error.code === 'Refused' ? 'Unreachable' : error.code;
}

/** Error bodies above this (bytes) are not looked into. */
const longestErrorBody = 65_536;

/** The `message` of an error body (service-behaviour.md 6), cut, and without `secrets`. */
export function serviceMessageOf(answer: PortAnswer, secrets: Pick<SecretSet, 'mask'>): string | undefined {
  if (answer.body.byteLength === 0 || answer.body.byteLength > longestErrorBody) return undefined;
  let body: unknown;
  try {
    body = decodeJson(answer, { depth: 16, values: longestErrorBody });
  } catch {
    // HTML, text and nothing are met (service-behaviour.md 6); the status says enough.
    return undefined;
  }
  if (!isObject(body) || typeof body['message'] !== 'string') return undefined;
  const message = body['message'];
  // What is cut further on is white space and the rest: here it ends as a secret may, in the middle.
  const cut = message.slice(0, 4 * maxServiceMessage);
  return secrets.mask(cut, cut.length < message.length);
}

/** What to say about a status where the code alone does not tell what to do. */
export function hintOfStatus(status: number): string | undefined {
  if (status >= 300 && status < 400) {
    return 'redirects are not followed; set the endpoint to the address that the service itself answers at';
  }
  return status === 401 ? 'check the credentials Secret' : undefined;
}

export function transportServiceError(
  method: string,
  template: string,
  error: ServiceTransportError,
  secrets: Pick<SecretSet, 'mask'>,
): ServiceError {
  return new ServiceError({
    code: codeOfTransport(error),
    method,
    template,
    detail: secrets.mask(error.message),
    cause: error,
  });
}
