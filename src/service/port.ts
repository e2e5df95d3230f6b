import type { CountedJson } from '../base/json-size.ts';
import type { Hold } from '../base/memory-budget.ts';

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
  /** The most values that an answer 2xx may hold, as `JsonSize` counts them; a port may leave it to the caller to see. */
  maxValues?: number;
  /** Time allowed for the whole call, milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
  /**
   * Where a port may put the body of an answer 2xx as it arrives, with none of it in {@link PortAnswer.body}. A port
   * that has the whole body anyway passes it over.
   */
  sink?: BodySink;
  /** What the port sets to the memory that the answer takes while it arrives, bytes. */
  hold?: Hold;
}

/** Takes a body piece by piece. Never throws: what is wrong with the body comes out at its end. */
export interface BodySink {
  /** False: no more is wanted of this answer. */
  push(piece: Uint8Array): boolean;
  /** The memory that it holds, bytes. */
  readonly heldBytes: number;
}

export interface PortAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** What the body holds, where that was counted already; it is counted once. */
  counted?: CountedJson;
  /** The body as text, where that was made of it already. */
  text?: string;
}

/** Thrown when a call to the service got no complete answer. */
export class ServiceTransportError extends Error {
  readonly code: 'Refused' | 'Tls' | 'NotAllowed' | 'Timeout' | 'Broken' | 'TooLarge' | 'MemoryFull';
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
