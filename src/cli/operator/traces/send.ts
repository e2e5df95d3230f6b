import { request } from 'undici';
import type { Clock } from '../../../base/clock.ts';
import { agentFor } from '../../../base/proxy/agent.ts';
import type { ProxySettings } from '../../../base/proxy/settings.ts';
import type { Delivery, SendTraces } from './span-exporter.ts';

export interface CollectorOptions {
  endpoint: URL;
  userAgent: string;
  clock: Clock;
  /** @default none */
  proxies?: ProxySettings | undefined;
}

/** From the beginning of the connection to the end of the answer, milliseconds. */
const TIMEOUT_MS = 5_000;
/** Answers after which the OpenTelemetry protocol has a body sent again; all others are final. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends traces to `<endpoint>/v1/traces`, as the OpenTelemetry protocol over HTTP says. Redirects are not
 * followed.
 */
export function sendTo({ endpoint, userAgent, clock, proxies }: CollectorOptions): SendTraces {
  const url = new URL(`${endpoint.pathname.replace(/\/$/, '')}/v1/traces`, endpoint);
  const dispatcher = agentFor(url, proxies);
  return async (body, signal) => {
    const slow = new AbortController();
    const timer = clock.setTimer(TIMEOUT_MS, () => {
      slow.abort(new Error(`the collector at ${url.host} did not answer within ${TIMEOUT_MS} ms`));
    });
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(url, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': userAgent },
        body,
        signal: AbortSignal.any([signal, slow.signal]),
      });
      // What it says besides is of no use; the end frees the connection, which the time-out destroys.
      await answer.dump();
      return deliveryOf(statusCode, headers['retry-after'], url, clock);
    } finally {
      timer.cancel();
    }
  };
}

function deliveryOf(
  status: number,
  retryAfter: string | string[] | undefined,
  url: URL,
  clock: Clock,
): Delivery {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const why = `the collector at ${url.host} answered ${status}`;
  if (!BUSY.has(status)) return { kind: 'refused', why };
  const afterMs = waitOf(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, clock);
  return { kind: 'busy', why, ...(afterMs === undefined ? {} : { afterMs }) };
}

/** Seconds or a date (RFC 9110, 10.2.3). */
function waitOf(retryAfter: string | undefined, clock: Clock): number | undefined {
  const text = retryAfter?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now());
}
