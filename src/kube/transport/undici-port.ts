import { exactJson } from '../../base/exact-json.ts';
import { request as send, type Dispatcher } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { JsonList } from '../../base/json-list.ts';
import { JsonLimitError, type JsonLimits } from '../../base/json-size.ts';
import { Places } from '../../base/places.ts';
import { noTurns, type Turns } from '../../base/turns.ts';
import { withoutEnding } from '../../base/text.ts';
import { AgentPair, REQUEST_CONNECTIONS } from './agents.ts';
import { CachedAccess, type AccessSource, type ClusterAccess } from './auth.ts';
import { parseJson, parseSafeJson } from './json.ts';
import {
  KubeAnswerTooLargeError,
  KubeTransportError,
  type KubeAnswer,
  type KubePort,
  type KubeRequest,
  type KubeWatch,
  type WatchLine,
} from '../port.ts';
import { watchLines } from './watch-lines.ts';

/** Options of {@link UndiciKubePort}. */
export interface UndiciKubePortOptions {
  source: AccessSource;
  clock: Clock;
  /** @defaultValue `boxwright` */
  userAgent?: string | undefined;
  /**
   * Largest answer that is read, bytes. A page of 500 large objects fits.
   * @defaultValue 128 MiB
   */
  maxAnswerBytes?: number | undefined;
  /**
   * Time allowed for one call that is no watch, milliseconds, waiting for a free connection included.
   * @defaultValue 60000
   */
  deadlineMs?: number | undefined;
  /**
   * Time to wait for the headers of an answer, and between two pieces of its body, milliseconds.
   * @defaultValue 30000
   */
  silenceMs?: number | undefined;
  /** When long answers and lines of watches may be parsed, by namespace. @defaultValue at once */
  turns?: Turns | undefined;
  /** Called once for each exchange with the API server, for metrics; a repeated call after a 401 counts twice. */
  onCall?: ((call: PortCall) => void) | undefined;
}

/** One exchange with the API server, when its headers have come or have failed to. */
export interface PortCall {
  method: string;
  /** Host and port of the API server. */
  host: string;
  /** Undefined when there was no answer. */
  status: number | undefined;
  /** From sending to the headers of the answer, milliseconds. */
  durationMs: number;
}

/** Shorter answers are parsed without waiting for a turn, bytes. */
const SMALL_BODY = 16_384;
/** The requests of one namespace take so many of the connections at the most: the others have the rest. */
const CONNECTIONS_EACH = 16;
/** Whatever the API server can store is read: what is too much for the operator is for its caches to say. */
const ITEM_LIMITS: JsonLimits = { bytes: 32 * 1024 * 1024, values: 8_000_000, depth: 10_000 };

type Response = Dispatcher.ResponseData;

/**
 * The {@link KubePort} over undici: keep-alive connections shared by all calls, one connection per watch,
 * credentials looked up again as they rotate. Redirects are not followed, so the token goes to the API server
 * and nowhere else.
 */
export class UndiciKubePort implements KubePort {
  readonly #access: CachedAccess;
  readonly #agents: AgentPair;
  readonly #options: UndiciKubePortOptions;
  readonly #connections = new Places({ places: REQUEST_CONNECTIONS, each: CONNECTIONS_EACH });

  constructor(options: UndiciKubePortOptions) {
    this.#options = options;
    this.#access = new CachedAccess(options.source, options.clock);
    this.#agents = new AgentPair({ silenceMs: options.silenceMs ?? 30_000, clock: options.clock });
  }

  async request(request: KubeRequest): Promise<KubeAnswer> {
    const deadlineMs = this.#options.deadlineMs ?? 60_000;
    const deadline = new AbortController();
    const timer = this.#options.clock.setTimer(deadlineMs, () => {
      deadline.abort(new Error(`no complete answer within ${deadlineMs} ms`));
    });
    const follow = (): void => deadline.abort(request.signal?.reason);
    if (request.signal?.aborted === true) follow();
    request.signal?.addEventListener('abort', follow, { once: true });
    let leave: (() => void) | undefined;
    try {
      const owner = namespaceIn(request.path);
      leave = await this.#connections.take(owner, deadline.signal);
      const response = await this.#authorized({ ...request, signal: deadline.signal }, 'requests');
      return {
        status: response.statusCode,
        headers: headersOf(response),
        body: await this.#bodyOf(response, this.#turnsOf(owner), request.onItems),
      };
    } catch (error) {
      // What waited for a connection was not sent.
      throw leave === undefined && request.signal?.aborted !== true
        ? new KubeTransportError(wordsOf(error as Error), { maybeSent: false, cause: error })
        : this.#explained(error, request);
    } finally {
      leave?.();
      timer.cancel();
      request.signal?.removeEventListener('abort', follow);
    }
  }

  async watch(request: KubeRequest): Promise<KubeWatch> {
    let response: Response;
    let body: unknown;
    const turns = this.#turnsOf(namespaceIn(request.path));
    try {
      response = await this.#authorized(request, 'watches');
      if (response.statusCode !== 200) body = await this.#bodyOf(response, turns);
    } catch (error) {
      throw this.#explained(error, request);
    }
    let closed = false;
    const close = (): void => {
      closed = true;
      response.body.destroy();
    };
    // The stream's own error reaches whoever iterates; with nobody iterating it is nobody's.
    response.body.on('error', () => undefined);
    const explained = (error: unknown): Error => this.#explained(error, request);
    async function* events(): AsyncGenerator<WatchLine, void, undefined> {
      if (response.statusCode !== 200) return;
      try {
        for await (const line of watchLines(response.body, { turns })) {
          if (closed) return;
          yield line;
        }
      } catch (error) {
        if (!closed) throw explained(error);
      }
    }
    const watch: KubeWatch = {
      status: response.statusCode,
      headers: headersOf(response),
      events: events(),
      close,
    };
    if (body !== undefined) watch.body = body;
    return watch;
  }

  /** Waits for what is in flight, ends watches, and closes all connections. Calls made later fail. */
  async close(): Promise<void> {
    await this.#agents.close();
  }

  /** Sends, and after a 401 sends once more if other credentials are to be had. */
  async #authorized(request: KubeRequest, kind: 'requests' | 'watches'): Promise<Response> {
    const access = await this.#currentAccess();
    const response = await this.#send(request, access, kind);
    if (response.statusCode !== 401) return response;
    const another = await this.#access.another(access);
    if (another === undefined) return response;
    await response.body.dump();
    return this.#send(request, another, kind);
  }

  async #currentAccess(): Promise<ClusterAccess> {
    try {
      return await this.#access.current();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new KubeTransportError(why, { maybeSent: false, cause });
    }
  }

  async #send(request: KubeRequest, access: ClusterAccess, kind: 'requests' | 'watches'): Promise<Response> {
    const headers: Record<string, string> = {
      ...access.headers,
      accept: request.accept ?? 'application/json',
      'user-agent': this.#options.userAgent ?? 'boxwright',
    };
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    const url = urlOf(access.server, request);
    const { clock, onCall } = this.#options;
    const started = clock.monotonic();
    let status: number | undefined;
    try {
      const response = await send(url, {
        dispatcher: this.#agents.for(access)[kind],
        method: request.method,
        headers,
        body: request.body === undefined ? null : exactJson(request.body),
        signal: request.signal ?? null,
      });
      status = response.statusCode;
      return response;
    } finally {
      onCall?.({ method: request.method, host: url.host, status, durationMs: clock.monotonic() - started });
    }
  }

  async #bodyOf(
    response: Response,
    turns: Turns,
    onItems?: (items: readonly unknown[]) => void,
  ): Promise<unknown> {
    if (onItems !== undefined && response.statusCode === 200 && isJson(response)) {
      return this.#listOf(response, turns, onItems);
    }
    const limit = this.#options.maxAnswerBytes ?? 128 * 1024 * 1024;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      // Leaving the loop destroys the body and its connection.
      if (bytes > limit) throw new KubeAnswerTooLargeError(`an answer is larger than ${limit} bytes`);
      chunks.push(chunk);
    }
    if (bytes === 0) return undefined;
    if (bytes > SMALL_BODY) await turns.take();
    const text = Buffer.concat(chunks).toString('utf8');
    if (bytes > SMALL_BODY) await turns.take();
    const parsed = parseJson(text);
    if (parsed !== undefined) return parsed;
    if (response.statusCode < 300 && isJson(response)) {
      throw new KubeTransportError('an answer that claims to be JSON is none', { maybeSent: true });
    }
    return text;
  }

  /** A list as it arrives: no more of it is in memory than one item, and what is made of those before. */
  async #listOf(
    response: Response,
    turns: Turns,
    take: (items: readonly unknown[]) => void,
  ): Promise<unknown> {
    const list = new JsonList({ member: 'items', limits: ITEM_LIMITS, parse: parseSafeJson, take });
    try {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        await turns.take();
        list.push(chunk);
      }
      return list.end();
    } catch (error) {
      if (error instanceof SyntaxError) {
        throw new KubeTransportError('an answer that claims to be JSON is none', { maybeSent: true });
      }
      if (error instanceof JsonLimitError) throw new KubeAnswerTooLargeError(`a list: ${error.message}`);
      throw error;
    }
  }

  #turnsOf(owner: string): Turns {
    return (this.#options.turns ?? noTurns).of(owner);
  }

  #explained(error: unknown, request: KubeRequest): Error {
    if (request.signal?.aborted === true) return request.signal.reason as Error;
    if (error instanceof KubeTransportError) return error;
    const cause = error instanceof Error ? error : new Error(String(error));
    const message = `${request.method} ${request.path}: no answer from the API server: ${wordsOf(cause)}`;
    return new KubeTransportError(message, { maybeSent: !isBeforeSending(cause), cause });
  }
}

function urlOf(server: string, request: KubeRequest): URL {
  const url = new URL(server);
  // A server behind a gateway has a path of its own.
  url.pathname = withoutEnding(url.pathname, '/') + request.path;
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Whose turn and whose connection a request takes; what is of no namespace is of an owner of its own. */
function namespaceIn(path: string): string {
  return /\/namespaces\/([^/]+)/.exec(path)?.[1] ?? '';
}

function headersOf(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

function isJson(response: Response): boolean {
  return String(response.headers['content-type'] ?? '').includes('json');
}

/** Failures of name look-up, proxy, connection and TLS handshake: no byte of the request has left. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ProxyRefused|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EACCES|UND_ERR_CONNECT_TIMEOUT|EPROTO|ERR_TLS_.*|ERR_SSL_WRONG_VERSION_NUMBER|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH)$/;

function isBeforeSending(error: Error): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && BEFORE_SENDING.test(code);
}

/** Several addresses tried in vain make an error without a message of its own. */
function wordsOf(error: Error): string {
  if (error.message !== '') return error.message;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : error.name;
}
