import type { Clock } from '../base/clock.ts';
import type { ServicePort } from './port.ts';

export interface UndiciPortOptions {
  /** `https://host[:port][/base]`, without userinfo, query and fragment. */
  endpoint: string;
  /** PEM certificates to trust instead of the system's. */
  ca?: string | undefined;
  /** Host patterns that may be called: exact names, `*.example.com`, or `*` for all. Empty means none. */
  allowedHosts: readonly string[];
  /** Plain http too. @default false */
  allowInsecure?: boolean | undefined;
  /** Loopback addresses too. @default false */
  allowLoopback?: boolean | undefined;
  /** Milliseconds for look-up, TCP and TLS. @default 10 s */
  connectTimeoutMs?: number | undefined;
  /** Milliseconds from the request to the answer's headers. @default 30 s */
  headersTimeoutMs?: number | undefined;
  /** Milliseconds between two pieces of the body. @default 30 s */
  bodyTimeoutMs?: number | undefined;
  clock: Clock;
}

export interface ClosablePort extends ServicePort {
  /** Breaks what is under way and closes all connections. */
  close(): Promise<void>;
}

/** Thrown by {@link createUndiciPort} for an endpoint that can never be called. */
export class EndpointError extends Error {
  readonly code: 'EndpointInvalid' | 'EndpointInsecure' | 'HostNotAllowed';

  constructor(code: EndpointError['code'], message: string) {
    super(message);
    this.name = 'EndpointError';
    this.code = code;
  }
}

export function createUndiciPort(options: UndiciPortOptions): ClosablePort {
  throw new Error(`not built yet: ${Object.keys(options).join()}`);
}
