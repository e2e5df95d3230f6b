import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../base/clock.ts';
import { closeServer, listenOn, type Endpoint, type ListenAddress } from '../serving/listener.ts';
import type { Metrics } from './metrics.ts';

/** Looks at one thing: undefined when it is well, else what is wrong, in words for a person. */
export type HealthCheck = () => string | undefined;

export interface HealthServerOptions extends ListenAddress {
  /** Checks behind `/healthz`, by name: the process should be restarted when one fails. */
  live: Readonly<Record<string, HealthCheck>>;
  /** Checks behind `/readyz`, by name. */
  ready: Readonly<Record<string, HealthCheck>>;
  /** What `/readyz` shows besides and fails nothing: something works less well than it was told to. */
  notes?: Readonly<Record<string, HealthCheck>>;
  /** Served as `/metrics` in the open; absent: they are served elsewhere, or not at all. */
  metrics?: Metrics;
}

/** Serves `/healthz` and `/readyz`, without asking who asks, and `/metrics` where nothing else does. */
export class HealthServer implements Endpoint {
  readonly name: string;
  readonly #options: HealthServerOptions;
  #server: Server | undefined;

  constructor(options: HealthServerOptions) {
    this.#options = options;
    this.name = options.metrics === undefined ? 'health' : 'health and metrics';
  }

  listen(): Promise<string> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server = server;
    return listenOn(server, 'http', this.#options);
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await closeServer(server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { live, metrics, notes, ready } = this.#options;
    const path = (request.url ?? '/').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(response, 405, 'only GET\n');
      return;
    }
    if (path === '/healthz') {
      sendChecks(response, live);
    } else if (path === '/readyz') {
      sendChecks(response, ready, notes);
    } else if (path === '/metrics' && metrics !== undefined) {
      send(response, 200, await metrics.render(), metrics.registry.contentType);
    } else {
      const here = ['/healthz', '/readyz', ...(metrics === undefined ? [] : ['/metrics'])];
      send(response, 404, `here are ${here.join(', ')}\n`);
    }
  }
}

/** Fails when a source has given no sign of life for `limitMs`, counted from now at the earliest. */
export function silentWatchCheck(
  sources: readonly { readonly lastActivity: number; readonly type: { readonly kind: string } }[],
  clock: Clock,
  limitMs: number,
): HealthCheck {
  const from = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    const silent = sources.filter((source) => now - Math.max(from, source.lastActivity) > limitMs);
    if (silent.length === 0) return undefined;
    return `no sign of life for more than ${Math.round(limitMs / 1_000)} s from the watch of ${silent
      .map((source) => source.type.kind)
      .join(', ')}`;
  };
}

/** Measures how late timers fire: a loop that is blocked serves nobody. */
export class EventLoopWatch {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #limitMs: number;
  #timer: Timer | undefined;
  #expected = 0;
  #lagMs = 0;

  /** `limitMs`: lateness of a timer that counts as blocked; `everyMs`: between two looks. */
  constructor(clock: Clock, options: { limitMs: number; everyMs?: number }) {
    this.#clock = clock;
    this.#everyMs = options.everyMs ?? 1_000;
    this.#limitMs = options.limitMs;
  }

  start(): void {
    this.#expected = this.#clock.monotonic() + this.#everyMs;
    this.#timer = this.#clock.setTimer(this.#everyMs, () => {
      this.#lagMs = Math.max(0, this.#clock.monotonic() - this.#expected);
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Lateness at the last look, or now if the next one is overdue, milliseconds. */
  get lagMs(): number {
    return this.#timer === undefined
      ? this.#lagMs
      : Math.max(this.#lagMs, this.#clock.monotonic() - this.#expected);
  }

  readonly check: HealthCheck = () => {
    const lag = this.lagMs;
    return lag > this.#limitMs ? `the event loop was blocked for ${Math.round(lag)} ms` : undefined;
  };
}

function sendChecks(
  response: ServerResponse,
  checks: Readonly<Record<string, HealthCheck>>,
  notes: Readonly<Record<string, HealthCheck>> = {},
): void {
  const lines: string[] = [];
  let well = true;
  for (const [name, check] of Object.entries(checks)) {
    const problem = check();
    if (problem !== undefined) well = false;
    lines.push(problem === undefined ? `[+] ${name} ok` : `[-] ${name}: ${problem}`);
  }
  for (const [name, check] of Object.entries(notes)) {
    const problem = check();
    if (problem !== undefined) lines.push(`[!] ${name}: ${problem}`);
  }
  send(response, well ? 200 : 503, `${lines.join('\n')}\n${well ? 'ok' : 'failed'}\n`);
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
