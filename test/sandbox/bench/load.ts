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
  /** Milliseconds. */
  p95: number;
  /** Of the last answer. */
  bytes: number;
  last: string;
}

/** Sends one call again and again over some connections, and measures. @throws Error at an answer that is none */
export async function load(call: Call, options: { count: number; connections: number }): Promise<Loaded> {
  const pool = new Pool(call.url, { connections: options.connections, pipelining: 1, bodyTimeout: 60_000 });
  const times: number[] = [];
  let left = options.count;
  let last = '';
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      const { statusCode, body } = await pool.request({
        method: call.method,
        path: call.path,
        headers: call.headers,
        ...(call.body === undefined ? {} : { body: call.body }),
      });
      last = await body.text();
      times.push(performance.now() - start);
      if (statusCode >= 300) throw new Error(`${call.method} ${call.path} answered ${statusCode}: ${last}`);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: options.connections }, worker));
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    perSecond: options.count / seconds,
    p95: sorted[Math.floor(sorted.length * 0.95)] ?? sorted.at(-1) ?? 0,
    bytes: Buffer.byteLength(last),
    last,
  };
}
