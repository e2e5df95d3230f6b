import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Agent, request as send } from 'undici';

/** What happens to a call. `after` lets it take effect first and loses the answer. */
export type Fault =
  /** The connection is reset, before or after the API server saw the call. */
  | { kind: 'reset'; after?: boolean }
  /** Nothing ever comes back, before or after the API server saw the call. */
  | { kind: 'hang'; after?: boolean }
  | { kind: 'delay'; ms: number }
  | { kind: 'status'; status: number; reason?: string; retryAfterSeconds?: number }
  /** A watch is opened and this ERROR event is its first line. */
  | { kind: 'watch-error'; status: number; reason?: string }
  /** The body is passed on up to so many bytes, then the connection is reset. */
  | { kind: 'cut'; bytes: number };

/** Which calls a fault befalls, for how many of them. */
export interface FaultRule {
  fault: Fault;
  method?: string;
  /** Found in path and query. */
  path?: RegExp;
  /** Only watches, or all but watches. */
  watch?: boolean;
  /** Calls before the rule is used up; default 1. */
  times?: number;
}

/** A call as the proxy saw it. */
export interface SeenCall {
  method: string;
  url: string;
  watch: boolean;
  fault: Fault['kind'] | undefined;
}

/** Where the proxy forwards to. */
export interface FaultProxyTarget {
  server: string;
  ca: string;
  cert: string;
  key: string;
}

/**
 * Stands between a client and the real API server and spoils calls. Speaks plain HTTP on a loopback port and
 * forwards with the credentials of the target, so that it can answer in the API server's place.
 */
export class FaultProxy implements AsyncDisposable {
  readonly url: string;
  readonly calls: SeenCall[] = [];
  readonly #server: Server;
  readonly #target: FaultProxyTarget;
  readonly #agent: Agent;
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<Stream>();
  #rules: (FaultRule & { times: number })[] = [];
  #timers = new Set<NodeJS.Timeout>();

  private constructor(server: Server, target: FaultProxyTarget) {
    this.#server = server;
    this.#target = target;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#agent = new Agent({
      allowH2: false,
      connect: { ca: target.ca, cert: target.cert, key: target.key },
      bodyTimeout: 0,
      headersTimeout: 0,
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#handle(request, response).catch(() => request.socket.destroy());
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  static async start(target: FaultProxyTarget): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FaultProxy(server, target);
  }

  /** Adds a rule; the first one that matches a call is used. */
  inject(rule: FaultRule): void {
    this.#rules.push({ times: 1, ...rule });
  }

  /** Removes all rules. */
  heal(): void {
    this.#rules = [];
  }

  /** Calls that matched, `watch` aside. */
  count(method: string, path: RegExp): number {
    return this.calls.filter((call) => call.method === method && path.test(call.url)).length;
  }

  /** Watches open through the proxy now. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Breaks all connections at once, as a restarted load balancer does. */
  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Lets open watches live on without a byte, as a lost NAT entry does. New ones work. */
  blackHoleWatches(): void {
    for (const watch of this.#watches) watch.muted = true;
  }

  /** Sends a line into all open watches, such as an ERROR event. */
  injectLine(line: object): void {
    for (const watch of this.#watches) watch.response.write(`${JSON.stringify(line)}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#agent.destroy();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const method = request.method ?? 'GET';
    const url = request.url ?? '/';
    const watch = /[?&]watch=(true|1)/.test(url);
    const fault = this.#fault(method, url, watch);
    this.calls.push({ method, url, watch, fault: fault?.kind });
    switch (fault?.kind) {
      case 'reset':
        if (fault.after === true) await this.#swallow(request, body);
        request.socket.resetAndDestroy();
        return;
      case 'hang':
        if (fault.after === true) await this.#swallow(request, body);
        return;
      case 'status':
        this.#refuse(response, fault);
        return;
      case 'watch-error':
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          `${JSON.stringify({ type: 'ERROR', object: statusBody(fault.status, fault.reason) })}\n`,
        );
        return;
      case 'delay':
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fault.ms);
          this.#timers.add(timer);
        });
        break;
      case 'cut':
      case undefined:
    }
    await this.#forward(request, response, body, watch, fault?.kind === 'cut' ? fault.bytes : undefined);
  }

  #fault(method: string, url: string, watch: boolean): Fault | undefined {
    const rule = this.#rules.find(
      (candidate) =>
        candidate.times > 0 &&
        (candidate.method === undefined || candidate.method === method) &&
        (candidate.path === undefined || candidate.path.test(url)) &&
        (candidate.watch === undefined || candidate.watch === watch),
    );
    if (rule === undefined) return undefined;
    rule.times--;
    return rule.fault;
  }

  #refuse(response: ServerResponse, fault: Extract<Fault, { kind: 'status' }>): void {
    response.writeHead(fault.status, {
      'content-type': 'application/json',
      ...(fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }),
    });
    response.end(JSON.stringify(statusBody(fault.status, fault.reason)));
  }

  async #swallow(request: IncomingMessage, body: Buffer): Promise<void> {
    const upstream = await this.#upstream(request, body);
    await upstream.body.dump();
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    watch: boolean,
    cutAfter: number | undefined,
  ): Promise<void> {
    const controller = new AbortController();
    response.on('close', () => controller.abort());
    const upstream = await this.#upstream(request, body, controller.signal);
    const headers = { ...upstream.headers };
    for (const name of ['connection', 'transfer-encoding', 'content-length', 'keep-alive'])
      delete headers[name];
    response.writeHead(upstream.statusCode, headers as Record<string, string>);
    response.flushHeaders();
    const stream: Stream = { response, muted: false };
    if (watch) this.#watches.add(stream);
    let left = cutAfter ?? Infinity;
    try {
      for await (const chunk of upstream.body as AsyncIterable<Buffer>) {
        if (stream.muted) continue;
        response.write(chunk.subarray(0, Math.min(chunk.length, left)));
        left -= chunk.length;
        if (left <= 0) {
          // A moment for the bytes to leave before the reset overtakes them.
          setImmediate(() => request.socket.resetAndDestroy());
          return;
        }
      }
      if (!stream.muted) response.end();
    } finally {
      this.#watches.delete(stream);
    }
  }

  #upstream(request: IncomingMessage, body: Buffer, signal?: AbortSignal) {
    const headers: Record<string, string> = {};
    for (const name of ['accept', 'content-type', 'user-agent']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    return send(`${this.#target.server}${request.url ?? '/'}`, {
      dispatcher: this.#agent,
      method: (request.method ?? 'GET') as 'GET',
      headers,
      body: body.length === 0 ? null : body,
      signal: signal ?? null,
    });
  }
}

interface Stream {
  response: ServerResponse;
  muted: boolean;
}

function statusBody(code: number, reason = 'Injected'): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `injected ${code}` };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
