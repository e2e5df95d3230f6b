import { errors } from 'undici';
import { ProxyRefusedError } from '../../base/proxy/tunnel.ts';
import { ServiceTransportError } from '../port.ts';

/** Codes of Node's certificate checks; anything else that breaks a handshake may pass by itself. */
const certificateCode =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_|CRL_)/;

/** What a failed look-up, TCP connect or TLS handshake means: certainly nothing was sent. */
export function connectFailure(error: unknown): ServiceTransportError {
  if (error instanceof ServiceTransportError) return error;
  if (error instanceof ProxyRefusedError) {
    return new ServiceTransportError('Refused', error.message, { maybeSent: false, cause: error.cause });
  }
  const code = codeOf(error);
  if (certificateCode.test(code)) {
    const message = `the certificate of the service was not accepted (${code}); trust its CA through tls.caRef`;
    return new ServiceTransportError('Tls', message, { maybeSent: false });
  }
  if (error instanceof errors.ConnectTimeoutError || code === 'ETIMEDOUT') {
    return new ServiceTransportError('Timeout', 'no connection in time', { maybeSent: false });
  }
  return new ServiceTransportError('Refused', `no connection (${code})`, { maybeSent: false });
}

/** What a failure after the connection stood means; `started` tells whether the request was begun. */
export function callFailure(error: unknown, started: boolean): ServiceTransportError {
  if (error instanceof ServiceTransportError) return error;
  if (!started) return connectFailure(error);
  if (error instanceof errors.HeadersTimeoutError) {
    return new ServiceTransportError('Timeout', 'no answer in time', { maybeSent: true });
  }
  if (error instanceof errors.BodyTimeoutError) {
    return new ServiceTransportError('Timeout', 'the answer stopped half-way', { maybeSent: true });
  }
  return new ServiceTransportError('Broken', `the connection broke (${codeOf(error)})`, { maybeSent: true });
}

/** The error's code and nothing else: messages of the layers below may quote what was sent. */
function codeOf(error: unknown): string {
  if (error === null || typeof error !== 'object') return 'unknown';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error ? error.name : 'unknown';
}
