import { lookup as dnsLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { ServiceTransportError } from '../port.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../port.ts';
import type { AddressCheck } from './addresses.ts';
import { createAddressCheck } from './addresses.ts';
import type { EndpointRules } from './endpoint.ts';
import { parseEndpoint } from './endpoint.ts';
import { callFailure, connectFailure } from './failures.ts';

export interface UndiciPortOptions extends EndpointRules {
  /** `https://host[:port][/base]`, without userinfo, query and fragment. */
  endpoint: string;
  /** PEM certificates to trust instead of the system's. */
  ca?: string | undefined;
  /** Milliseconds for look-up, TCP and TLS. @default 10 s */
  connectTimeoutMs?: number | undefined;
  /** Milliseconds from the request to the answer's headers. @default 30 s */
  headersTimeoutMs?: number | undefined;
  /** Milliseconds between two pieces of the body. @default 30 s */
  bodyTimeoutMs?: number | undefined;
  /** Connections at one time. @default no limit but the client's calls in flight */
  connections?: number | undefined;
  clock: Clock;
  /** Turns a host name into addresses; for tests. @default the system's */
  resolve?: Resolve | undefined;
}

/** Every address of a host; calls back with an error when there is none. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface ClosablePort extends ServicePort {
  /**
   * Takes no more calls, lets those under way end (their time-outs and signals hold on), then closes all
   * connections: a write that is cut off would be one of unknown outcome.
   */
  close(): Promise<void>;
}

/**
 * A {@link ServicePort} on undici with an agent of its own, so that connections, TLS trust and time-outs of
 * one Connection are never shared with another. Throws {@link EndpointError} for an endpoint that may not be
 * called. HTTP/1.1 only: one socket per call, independent failure.
 */
export function createUndiciPort(options: UndiciPortOptions): ClosablePort {
  const endpoint = parseEndpoint(options.endpoint, options);
  const connect = buildConnector({
    timeout: options.connectTimeoutMs ?? 10_000,
    allowH2: false,
    autoSelectFamily: true,
    lookup: checkedLookup(
      createAddressCheck(options.allowLoopback === true),
      options.resolve ?? systemResolve,
    ),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const agent = new Agent({
    connect: (to, done) =>
      connect(to, (error, socket) => {
        if (error === null) done(null, socket);
        else done(connectFailure(error), null);
      }),
    allowH2: false,
    pipelining: 1,
    connections: options.connections ?? null,
    headersTimeout: options.headersTimeoutMs ?? 30_000,
    bodyTimeout: options.bodyTimeoutMs ?? 30_000,
    // Shorter than what servers keep, since a POST that meets a socket just closed has an unknown outcome.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    keepAliveTimeoutThreshold: 2_000,
    maxHeaderSize: 32_768,
  });
  const underWay = new Set<Promise<unknown>>();
  let closed = false;
  return {
    async send(request) {
      if (closed) throw new ServiceTransportError('Refused', 'the port is closed', { maybeSent: false });
      const answer = send(agent, endpoint, request, options.clock);
      underWay.add(answer);
      try {
        return await answer;
      } finally {
        underWay.delete(answer);
      }
    },
    async close() {
      closed = true;
      // Not agent.close(): it would also wait for calls that were given up while they waited for a connection.
      await Promise.allSettled(underWay);
      await agent.destroy();
    },
  };
}

function send(
  agent: Agent,
  endpoint: { origin: string; base: string },
  request: PortRequest,
  clock: Clock,
): Promise<PortAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    let controller: Dispatcher.DispatchController | undefined;
    let over = false;
    const end = (finish: () => void, abort?: Error): void => {
      if (over) return;
      over = true;
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
      finish();
      if (abort !== undefined) controller?.abort(abort);
    };
    const fail = (error: ServiceTransportError): void => end(() => reject(error), error);
    const onAbort = (): void => end(() => reject(signal?.reason as Error), new Error('aborted'));
    const timer = clock.setTimer(request.timeoutMs, () => {
      const sent = controller !== undefined;
      fail(
        new ServiceTransportError('Timeout', sent ? 'no answer in time' : 'not sent in time', {
          maybeSent: sent,
        }),
      );
    });
    signal?.addEventListener('abort', onAbort, { once: true });

    let status = 0;
    let headers: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        // Given up while it waited for a connection: nothing is to be sent any more.
        if (over) started.abort(new Error('given up'));
      },
      onResponseStart(_, code, given) {
        status = code;
        headers = flatten(given);
        if (Number(headers['content-length'] ?? 0) > request.maxBytes) fail(tooLarge(request.maxBytes));
      },
      onResponseData(_, chunk) {
        size += chunk.byteLength;
        if (size > request.maxBytes) fail(tooLarge(request.maxBytes));
        else if (!over) chunks.push(chunk);
      },
      onResponseEnd() {
        end(() => resolve({ status, headers, body: Buffer.concat(chunks) }));
      },
      onResponseError(_, error) {
        fail(callFailure(error, controller !== undefined));
      },
    };
    try {
      agent.dispatch(
        {
          origin: endpoint.origin,
          path: `${endpoint.base}${request.path}`,
          method: request.method,
          headers: { ...request.headers },
          body: request.body ?? null,
        },
        handler,
      );
    } catch (error) {
      fail(callFailure(error, false));
    }
  });
}

function tooLarge(maxBytes: number): ServiceTransportError {
  return new ServiceTransportError('TooLarge', `the answer is larger than ${maxBytes} bytes`, {
    maybeSent: true,
  });
}

/** Header values as one string each; undici gives lists for repeated ones. */
function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

/**
 * A look-up that hands out checked addresses only, so that the connection goes to what was checked and no
 * second look-up can answer differently. One refused address spoils the name: it is being used as a detour.
 */
function checkedLookup(check: AddressCheck, resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      if (error !== null) {
        done(error, '');
        return;
      }
      for (const { address } of addresses) {
        const refused = check(address);
        if (refused !== undefined) {
          const message = `the endpoint's host resolves to a ${refused} address, which is not called`;
          done(new ServiceTransportError('NotAllowed', message, { maybeSent: false }), '');
          return;
        }
      }
      const [first] = addresses;
      if (first === undefined) done(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

const systemResolve: Resolve = (host, done) => {
  dnsLookup(host, { all: true }, (error, addresses) => done(error, addresses));
};
