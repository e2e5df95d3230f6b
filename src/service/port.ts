/**
 * The one door to the service. Everything above it (login, budget, breaker, record families) speaks through
 * a {@link ServicePort}; production puts undici behind it, the fault tests the embedded service's handler.
 */
export interface ServicePort {
  /**
   * One call, one answer, whatever its status code; never follows a redirect. Rejects with
   * {@link ServiceTransportError} when there is no complete answer, and with the signal's reason when aborted.
   */
  send(request: PortRequest): Promise<PortAnswer>;
}

export interface PortRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path under the endpoint, with query, each part already encoded: `/services/boxes?ids=a,b`. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Largest answer that is read, bytes. */
  maxBytes: number;
  /** Time allowed for the whole call, milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface PortAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** Thrown when a call to the service got no complete answer. */
export class ServiceTransportError extends Error {
  readonly code: 'Refused' | 'Tls' | 'NotAllowed' | 'Timeout' | 'Broken' | 'TooLarge';
  /** Whether the request can have reached the service: `false` only when it certainly did not. */
  readonly maybeSent: boolean;

  constructor(
    code: ServiceTransportError['code'],
    message: string,
    options: { maybeSent: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'ServiceTransportError';
    this.code = code;
    this.maybeSent = options.maybeSent;
  }
}
