import { Agent } from 'undici';
import type { buildConnector, Dispatcher } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { JsonLimitError } from '../../base/json-size.ts';
import type { Places } from '../../base/places.ts';
import { noTurns, type Turns } from '../../base/turns.ts';
import { proxyFor } from '../../base/proxy/settings.ts';
import type { HttpProxy, ProxySettings } from '../../base/proxy/settings.ts';
import { refusal } from '../../base/proxy/tunnel.ts';
import { ServiceTransportError } from '../port.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../port.ts';
import { createAddressCheck } from './addresses.ts';
import { directConnect, forwardConnect, tunnelConnect } from './connect.ts';
import type { Endpoint, EndpointRules } from './endpoint.ts';
import { parseEndpoint } from './endpoint.ts';
import { callFailure } from './failures.ts';
import { Intake } from './intake.ts';
import { absoluteResolve, queuedResolve, type Resolve } from './resolve.ts';

/** Of the body of a refusal nothing beyond this is looked into, bytes. */
const REFUSAL_BYTES = 65_536;

/** Answers 1xx before the one that counts; more come from somebody who wants to keep the operator busy. */
const MOST_INTERIM = 8;

export interface UndiciPortOptions extends EndpointRules {
  /** `https://host[:port][/base]`, without userinfo, query and fragment. */
  endpoint: string;
  /** PEM certificates to trust instead of the system's. */
  ca?: string | undefined;
  /** The administrator's proxies; nothing in a Connection can name one. @default none */
  proxies?: ProxySettings | undefined;
  /** Milliseconds for look-up, TCP, proxy and TLS. @default 10 s */
  connectTimeoutMs?: number | undefined;
  /** Milliseconds from the request to the answer's headers. @default 30 s */
  headersTimeoutMs?: number | undefined;
  /** Milliseconds between two pieces of the body. @default 30 s */
  bodyTimeoutMs?: number | undefined;
  /** Connections at one time. @default no limit but the client's calls in flight */
  connections?: number | undefined;
  clock: Clock;
  /** When lists may be read, a piece at a time. @default at once */
  turns?: Turns | undefined;
  /** Where look-ups take their turns, and whose they are. @default at once */
  lookups?: { places: Places; owner: string } | undefined;
  /** Turns a host name into addresses; for tests. @default the system's */
  resolve?: Resolve | undefined;
}

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
  const route = routeTo(endpoint, options);
  const agent = new Agent({
    connect: route.connect,
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
      const answer = send(agent, route, request, options);
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

/** How a call gets to the service. */
interface Route {
  connect: buildConnector.connector;
  /** Where the connection goes. */
  origin: string;
  /** Before the path of the call. */
  prefix: string;
  /** For the proxy. */
  headers: Readonly<Record<string, string>>;
  /** The proxy that answers in the service's place, and the service; absent where none can. */
  forwarded?: { proxy: HttpProxy; target: string };
}

function routeTo({ origin, host, base }: Endpoint, options: UndiciPortOptions): Route {
  const timeoutMs = options.connectTimeoutMs ?? 10_000;
  const { ca, clock, proxies } = options;
  const url = new URL(origin);
  const proxy = proxies === undefined ? undefined : proxyFor(url, proxies);
  if (proxy === undefined) {
    const check = createAddressCheck(options.allowLoopback === true);
    const { resolve = absoluteResolve(), lookups } = options;
    const queued = lookups === undefined ? resolve : queuedResolve(resolve, lookups.places, lookups.owner);
    const connect = directConnect({ timeoutMs, ca }, check, queued);
    return { connect, origin, prefix: base, headers: {} };
  }
  if (url.protocol === 'https:') {
    const far = { host, port: Number(url.port === '' ? 443 : url.port) };
    const connect = tunnelConnect({ timeoutMs, ca }, proxy, far, clock);
    return { connect, origin, prefix: base, headers: {} };
  }
  // RFC 9112, 3.2.2: a proxy for plain http is asked for the whole URL.
  return {
    connect: forwardConnect(timeoutMs, proxy),
    origin: `${proxy.secure ? 'https' : 'http'}://${proxy.address}`,
    prefix: `${origin}${base}`,
    headers: { host: url.host, ...proxy.headers() },
    forwarded: { proxy, target: url.host },
  };
}

function send(
  agent: Agent,
  route: Route,
  request: PortRequest,
  { clock, turns = noTurns }: Pick<UndiciPortOptions, 'clock' | 'turns'>,
): Promise<PortAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    let controller: Dispatcher.DispatchController | undefined;
    let over = false;
    const ended = new AbortController();
    const end = (finish: () => void, abort?: Error): void => {
      if (over) return;
      over = true;
      ended.abort(new Error('the call is over'));
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
    let interim = 0;
    let intake: Intake | undefined;
    const answer = (taken: Pick<PortAnswer, 'body' | 'counted'>): PortAnswer => ({
      status,
      headers,
      ...taken,
    });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        // Given up while it waited for a connection: nothing is to be sent any more.
        if (over) started.abort(new Error('given up'));
      },
      onResponseStart(_, code, given) {
        if (code < 200) {
          interim += 1;
          if (interim > MOST_INTERIM) {
            const message = 'the answer does not begin: one 1xx follows the other';
            fail(new ServiceTransportError('Broken', message, { maybeSent: true }));
          }
          return;
        }
        status = code;
        headers = flatten(given);
        // Only a proxy asks for this; it has passed nothing on.
        if (code === 407 && route.forwarded !== undefined) {
          const { proxy, target } = route.forwarded;
          const message = `the proxy ${proxy.address} ${refusal(code, target, proxy)}`;
          fail(new ServiceTransportError('Refused', message, { maybeSent: false }));
        }
        if (Number(headers['content-length'] ?? 0) > request.maxBytes) fail(tooLarge(request.maxBytes));
        const isGood = code >= 200 && code < 300;
        intake = new Intake({
          turns,
          hold: request.hold,
          sink: isGood ? request.sink : undefined,
          keepBytes: isGood ? undefined : REFUSAL_BYTES,
          mostBytes: Math.min(Number(headers['content-length'] ?? Infinity), request.maxBytes),
          mostValues: isGood ? request.maxValues : undefined,
          signal: ended.signal,
          flow: { pause: () => controller?.pause(), resume: () => controller?.resume() },
          onEnd: (error) => {
            // What came is enough to know that the rest is of no use.
            if (error === undefined)
              end(() => resolve(answer({ body: new Uint8Array() })), new Error('no more is wanted'));
            else {
              const why = error instanceof JsonLimitError ? 'TooLarge' : 'MemoryFull';
              fail(new ServiceTransportError(why, error.message, { maybeSent: true }));
            }
          },
        });
      },
      onResponseData(_, chunk) {
        size += chunk.byteLength;
        if (size > request.maxBytes) fail(tooLarge(request.maxBytes));
        else if (!over) intake?.push(chunk);
      },
      onResponseEnd() {
        void intake?.end().then((taken) => end(() => resolve(answer(taken))));
      },
      onResponseError(_, error) {
        fail(callFailure(error, controller !== undefined));
      },
    };
    try {
      agent.dispatch(
        {
          origin: route.origin,
          path: `${route.prefix}${request.path}`,
          method: request.method,
          headers: { ...request.headers, ...route.headers },
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
