import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { HttpProxy } from './settings.ts';

/** Thrown when a proxy gives no connection; the message names the proxy, what it said, and the next step. */
export class ProxyRefusedError extends Error {
  readonly code = 'ProxyRefused';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProxyRefusedError';
  }
}

/** How a tunnel is made. */
export interface TunnelOptions {
  proxy: HttpProxy;
  /** The far end; an IPv6 address without brackets. */
  host: string;
  port: number;
  clock: Clock;
  /** Time for reaching the proxy and for its answer, milliseconds. */
  timeoutMs: number;
}

/** Gets the connection, or a {@link ProxyRefusedError}; called once. */
export type TunnelDone = (
  ...outcome: [error: null, socket: Socket] | [error: ProxyRefusedError, socket: null]
) => void;

/**
 * Opens a connection to `host` through a proxy, by CONNECT (RFC 9110, 9.3.6); TLS to the far end is the caller's.
 * The proxy looks the name up, and decides whether it goes there.
 */
export function openTunnel({ proxy, host, port, clock, timeoutMs }: TunnelOptions, done: TunnelDone): void {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  let over = false;
  const end = (...outcome: Parameters<TunnelDone>): void => {
    if (over) return;
    over = true;
    timer.cancel();
    done(...outcome);
  };
  const fail = (what: string, cause?: unknown): void =>
    end(new ProxyRefusedError(`the proxy ${proxy.address} ${what}`, { cause }), null);
  const connect = (proxy.secure ? requestSecure : requestPlain)({
    method: 'CONNECT',
    host: proxy.host,
    port: proxy.port,
    path: target,
    headers: { host: target, ...proxy.headers() },
    // A connection for this tunnel alone.
    agent: false,
  });
  const timer = clock.setTimer(timeoutMs, () => {
    fail(`did not answer within ${timeoutMs} ms`);
    connect.destroy();
  });
  connect.once('connect', (answer: IncomingMessage, socket: Socket, head: Buffer) => {
    const { statusCode = 0 } = answer;
    if (over || statusCode < 200 || statusCode > 299) {
      socket.destroy();
      fail(refusal(statusCode, target, proxy));
      return;
    }
    if (head.length > 0) socket.unshift(head);
    end(null, socket);
  });
  // An answer to CONNECT comes as an event of its own; this one is of a server that does not know the method.
  connect.once('response', (answer: IncomingMessage) => {
    answer.resume();
    connect.destroy();
    fail(refusal(answer.statusCode ?? 0, target, proxy));
  });
  // It stays after the end, so that a late error ends nothing.
  connect.on('error', (error) => fail(unreachable(error, proxy), error));
  connect.end();
}

/** What a proxy's status means for the person who runs the program; the proxy's own words are not repeated. */
export function refusal(status: number, target: string, { variable }: HttpProxy): string {
  if (status === 407) return `asks for other credentials (407): put user and password into ${variable}`;
  if (status === 401 || status === 403) {
    const around = /_proxy$/i.test(variable) ? 'or list the host in NO_PROXY' : `or take ${variable} away`;
    return `does not let ${target} through (${status}): have it allowed there, ${around}`;
  }
  return status >= 500
    ? `has no connection to ${target} (${status})`
    : `does not know how to connect to ${target} (${status}): look at ${variable}`;
}

/** What it means that there is no connection to the proxy itself. */
export function unreachable(error: Error, { variable }: HttpProxy): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot be reached (${code ?? error.name}): look at it, and at ${variable}`;
}
