import { request } from 'undici';
import type { SendTraces } from './otlp-tracer.ts';

/** How long a collector may take to answer, milliseconds. */
const TIMEOUT_MS = 5_000;

/** Sends traces to `<endpoint>/v1/traces`, as the OpenTelemetry protocol over HTTP says. */
export function sendTo(endpoint: URL, userAgent: string): SendTraces {
  const url = new URL(`${endpoint.pathname.replace(/\/$/, '')}/v1/traces`, endpoint);
  return async (body) => {
    const { statusCode, body: answer } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent },
      body,
      // The connecting included, which the time-outs of undici are not for.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.dump();
    if (statusCode >= 300) throw new Error(`the collector at ${url.host} answered ${statusCode}`);
  };
}
