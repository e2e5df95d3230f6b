/** One request as the handler sees it: nothing of node:http, so that tests call the handler directly. */
export interface SandboxRequest {
  /** Upper case. */
  method: string;
  /** Path with query, as on the request line. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Aborted when the caller hangs up: waiting for a latency or in a hang ends then. */
  signal?: AbortSignal;
}

export interface SandboxAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/**
 * Rejection of the handler when a fault says that the connection breaks. The HTTP shell turns it into a reset;
 * a caller in the same process treats it as "no answer".
 */
export class ConnectionLost extends Error {
  readonly code = 'ConnectionLost';
  /** `after`: the call took effect before the connection broke. */
  readonly effect: 'before' | 'after';

  constructor(effect: 'before' | 'after') {
    super(`the connection broke ${effect} the call took effect (a fault that was asked for)`);
    this.name = 'ConnectionLost';
    this.effect = effect;
  }
}

/** An answer other than success, thrown by handlers; the edge turns it into a JSON body with `message`. */
export class Refusal extends Error {
  readonly code = 'Refusal';
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Of a 400: whether the request does not fit the description, or fits and asks for what cannot be. */
  readonly reason: 'invalid' | 'refused';

  constructor(
    status: number,
    message: string,
    headers: Record<string, string> = {},
    reason: Refusal['reason'] = 'refused',
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
    this.reason = reason;
  }
}

/** 400 for a request that fits the description, and asks for something that is not there or cannot be. */
export const badRequest = (message: string): Refusal => new Refusal(400, message);
/** 400 for a request that does not fit the description. */
export const invalid = (message: string): Refusal => new Refusal(400, message, {}, 'invalid');
export const forbidden = (message: string): Refusal => new Refusal(403, message);
export const notFound = (message: string): Refusal => new Refusal(404, message);
export const conflict = (message: string): Refusal => new Refusal(409, message);
