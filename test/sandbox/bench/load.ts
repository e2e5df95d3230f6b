import { Pool } from 'undici';

export interface Call {
  url: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Loaded {
  perSecond: number;
  seconds: number;
  /** Milliseconds to the last byte. */
  p50: number;
  p95: number;
  /** Of the last answer. */
  bytes: number;
  last: string;
}

/** One call; resolves with the body once its last byte is there. @throws Error at an answer that is none */
async function send(pool: Pool, call: Call): Promise<string> {
  const { statusCode, body } = await pool.request({
    method: call.method,
    path: call.path,
    headers: call.headers,
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${call.method} ${call.path} answered ${statusCode}: ${text}`);
  return text;
}

function summary(times: readonly number[], seconds: number, last: string): Loaded {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? sorted.at(-1) ?? 0;
  return {
    perSecond: times.length / seconds,
    seconds,
    p50: at(0.5),
    p95: at(0.95),
    bytes: Buffer.byteLength(last),
    last,
  };
}

/** Sends one call again and again over some connections, and measures. */
export async function load(call: Call, options: { count: number; connections: number }): Promise<Loaded> {
  const pool = new Pool(call.url, { connections: options.connections, pipelining: 1, bodyTimeout: 60_000 });
  const times: number[] = [];
  let left = options.count;
  let last = '';
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      last = await send(pool, call);
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: options.connections }, worker));
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  return summary(times, seconds, last);
}

/** Sends a call so many times a second for some seconds, whether or not the earlier ones are answered. */
export async function steadily(call: Call, options: { perSecond: number; seconds: number }): Promise<Loaded> {
  const pool = new Pool(call.url, { connections: 64, pipelining: 1, bodyTimeout: 60_000 });
  const times: number[] = [];
  const count = options.perSecond * options.seconds;
  let last = '';
  const one = async (): Promise<void> => {
    const start = performance.now();
    last = await send(pool, call);
    times.push(performance.now() - start);
  };
  const start = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < count) {
    const due = Math.min(count, ((performance.now() - start) / 1000) * options.perSecond);
    while (sent.length < due) sent.push(one());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(sent);
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  return summary(times, seconds, last);
}
