import { BlockList, isIP } from 'node:net';
import { request, type Dispatcher } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { agentFor } from '../../base/proxy/agent.ts';
import type { ProxySettings } from '../../base/proxy/settings.ts';
import { EnvtestError } from './errors.ts';

export interface WebOptions {
  clock: Clock;
  proxies: ProxySettings;
  signal?: AbortSignal | undefined;
}

/** An answer that is being read. */
export interface Answer {
  body: AsyncIterable<Buffer>;
  /** Bytes that were announced. */
  length: number | undefined;
}

const REDIRECTS = 5;
/** Who is offline, or behind something that swallows packets, shall not wait for long. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Without a byte, milliseconds. */
const IDLE_TIMEOUT_MS = 20_000;

/**
 * GETs `url`, over redirects, and hands the answer to `read`; all of it within `limitMs`. Over https, or on loopback:
 * programs come this way. Throws {@link EnvtestError}, or the signal's reason.
 */
export async function get<T>(
  url: URL,
  limitMs: number,
  { clock, proxies, signal }: WebOptions,
  read: (answer: Answer) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = clock.setTimer(limitMs, () =>
    late.abort(new EnvtestError(`${url.host} took longer than ${limitMs / 1_000} s`)),
  );
  const both = AbortSignal.any([late.signal, ...(signal === undefined ? [] : [signal])]);
  let at = url;
  try {
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      requireSecure(at);
      const agent = agentFor(at, proxies, {
        connect: { timeout: CONNECT_TIMEOUT_MS },
        headersTimeout: IDLE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
      });
      try {
        const answer = await request(at, { dispatcher: agent, signal: both });
        const target = redirection(answer, at);
        if (target === undefined) return await read(bodyOf(answer, at));
        at = target;
      } finally {
        await agent.destroy();
      }
    }
    throw new EnvtestError(`${url.host} redirects more than ${REDIRECTS} times`);
  } catch (error) {
    signal?.throwIfAborted();
    if (late.signal.aborted) throw late.signal.reason;
    if (error instanceof EnvtestError) throw error;
    throw new EnvtestError(`fetching from ${at.host} failed (${causeOf(error)})`, error);
  } finally {
    timer.cancel();
  }
}

function redirection({ statusCode, headers }: Dispatcher.ResponseData, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const { location } = headers;
  const target = typeof location === 'string' ? URL.parse(location, from.href) : null;
  if (target === null) throw new EnvtestError(`${from.host} redirects to nowhere (${statusCode})`);
  return target;
}

function bodyOf({ statusCode, headers, body }: Dispatcher.ResponseData, at: URL): Answer {
  if (statusCode !== 200) throw new EnvtestError(`${at.host} answers ${statusCode} for ${at.pathname}`);
  const length = Number(headers['content-length']);
  return { body, length: Number.isSafeInteger(length) ? length : undefined };
}

function requireSecure({ protocol, hostname, origin }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return;
  throw new EnvtestError(
    `${origin} is neither https nor on loopback, and programs are taken from no other place`,
  );
}

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return address === 'localhost';
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
