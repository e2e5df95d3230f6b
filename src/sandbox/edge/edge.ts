import { createHash } from 'node:crypto';
import { collected, listChunks, type Answer } from './chunks.ts';
import { ConnectionLost, invalid, Refusal, type SandboxAnswer, type SandboxRequest } from '../http.ts';
import { Callers } from '../security/callers.ts';
import { isForgery } from '../security/origin.ts';
import type { Caller, Service } from '../service.ts';
import type { Calls } from './calls.ts';
import type { Fault, Faults } from './faults.ts';
import type { Hidden } from './hidden.ts';
import type { Lag } from './lag.ts';
import type { Call, Outcome, Route } from './route.ts';
import { parseJsonObject } from './json-body.ts';
import type { Match, Router } from './router.ts';
import { spoil } from './spoil.ts';
import type { Unread } from './unread.ts';
import type { Validation } from './validate.ts';

/** Largest JSON body that is taken, bytes. */
export const MAX_JSON_BYTES = 4_000_000;
/** Largest body of an upload: the file and its multipart frame. */
export const MAX_UPLOAD_BYTES = 10_100_000;

export interface EdgeParts {
  service: Service;
  router: Router;
  validation: Validation;
  faults: Faults;
  lag: Lag;
  hidden: Hidden;
  calls: Calls;
  unread: Unread;
  /** Gives headers that came under other names the interface's names. */
  readHeaders: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** Ends every wait when the sandbox stops. */
  stopped: AbortSignal;
  /** Told about errors that answer 500. */
  onError: (error: unknown) => void;
}

/** A request that has been matched with a route. */
interface Arrived {
  request: SandboxRequest;
  match: Match;
  pathname: string;
  search: string;
}

/** Lists of more records are streamed. */
const STREAM_FROM = 100;

/** Everything between the wire and the handlers: faults, tokens, validation, transactions, the record of calls. */
export class Edge {
  readonly #parts: EdgeParts;
  readonly #callers: Callers;

  constructor(parts: EdgeParts) {
    this.#parts = parts;
    this.#callers = new Callers(parts.service);
  }

  /** One request, one answer. @throws {@link ConnectionLost} when a fault breaks the connection */
  async handle(request: SandboxRequest): Promise<SandboxAnswer> {
    return collected(await this.open(request));
  }

  /** The same, with long lists as they are made. @throws {@link ConnectionLost} */
  async open(arriving: SandboxRequest): Promise<Answer> {
    const { service, router, calls, faults } = this.#parts;
    const request = { ...arriving, headers: this.#parts.readHeaders(arriving.headers) };
    service.engine.settle();
    const [pathname, search] = splitOnce(request.path, '?');
    const match = router.match(request.method, pathname);
    const caller = this.#callers.of(request.method, request.headers);
    const route = match.kind === 'route' ? match.route.path : match.kind === 'method' ? match.template : '';
    const target = { method: request.method, route, path: request.path, caller: caller?.personal ?? '' };
    const struck = faults.take(target);
    const record = calls.add({
      ...target,
      at: service.time.clock.now(),
      status: 0,
      bodyHash: request.body.length === 0 ? '' : createHash('sha256').update(request.body).digest('hex'),
      bodyBytes: request.body.length,
      headerNames: Object.keys(arriving.headers).toSorted(),
      faults: struck.map((fault) => fault.id),
    });
    try {
      const answer = await this.#withFaults(request, struck, () =>
        this.#answer({ request, match, pathname, search }),
      );
      record.status = answer.status;
      this.#parts.unread.note(arriving, pathname, match.kind === 'route', answer.status);
      return answer;
    } catch (error) {
      if (error instanceof ConnectionLost) record.lost = error.effect;
      throw error;
    }
  }

  async #withFaults(
    request: SandboxRequest,
    struck: readonly Fault[],
    answer: () => Answer,
  ): Promise<Answer> {
    const { service } = this.#parts;
    const wait = struck.reduce((sum, fault) => sum + this.#pick(fault.latency ?? 0), 0);
    await this.#sleep(this.#pick(service.settings.latency) + wait, request.signal);
    if (struck.some((fault) => fault.hang === 'before')) await this.#hang(request.signal);
    if (struck.some((fault) => fault.lose === 'before')) throw new ConnectionLost('before');
    const refused = struck.find((fault) => fault.status !== undefined || fault.redirect !== undefined);
    if (refused !== undefined) return faultAnswer(refused);
    let given = answer();
    // Nothing is said, not even to a reader, before it is on the disk.
    const commit = service.store.database.settled();
    if (commit !== undefined) await commit;
    if (struck.some((fault) => fault.hang === 'after')) await this.#hang(request.signal);
    if (struck.some((fault) => fault.lose === 'after')) throw new ConnectionLost('after');
    for (const fault of struck) if (fault.body !== undefined) given = spoil(collected(given), fault.body);
    return given;
  }

  #pick(latency: number | readonly [number, number]): number {
    if (typeof latency === 'number') return latency;
    const [low, high] = latency;
    return low + this.#parts.service.random() * (high - low);
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (ms <= 0) return;
    await this.#parts.service.time.clock.sleep(ms, this.#signal(signal));
    this.#parts.service.engine.settle();
  }

  async #hang(signal: AbortSignal | undefined): Promise<void> {
    const ended = this.#signal(signal);
    await new Promise<void>((_, reject) => {
      const end = (): void => reject(ended.reason as Error);
      if (ended.aborted) end();
      else ended.addEventListener('abort', end, { once: true });
    });
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    const { stopped } = this.#parts;
    return signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
  }

  #answer(arrived: Arrived): Answer {
    try {
      return this.#serve(arrived);
    } catch (error) {
      if (error instanceof Refusal) return failure(error.status, error.message, error.headers, error.reason);
      this.#parts.onError(error);
      return failure(500, 'the sandbox failed; its log says why');
    }
  }

  #serve({ request, match, pathname, search }: Arrived): Answer {
    if (match.kind === 'none') throw new Refusal(404, `there is nothing at ${pathname}`);
    if (match.kind === 'malformed') throw invalid('the path is not valid percent-encoding');
    if (match.kind === 'method') {
      const allow = { allow: match.allow.join(', ') };
      if (request.method === 'OPTIONS') return { status: 204, headers: allow, body: new Uint8Array() };
      throw new Refusal(405, `${request.method} is not possible here; use ${allow.allow}`, allow);
    }
    const { route, params } = match;
    if (ofService(route)) this.#checkRelease(request);
    else if (isForgery(request.method, request.headers)) {
      throw new Refusal(403, `a page at ${request.headers['origin']} cannot do this`);
    }
    // After the latency: a token may have been revoked meanwhile.
    const caller = this.#callers.of(request.method, request.headers);
    if (caller === undefined && route.open !== true) {
      throw new Refusal(401, 'the token is missing or not valid; get one from POST /services/security/token');
    }
    const body = this.#body(request, route);
    const { service, validation, lag, hidden } = this.#parts;
    hidden.check(request.method, params);
    const call: Call = {
      service,
      caller: caller ?? NOBODY,
      params,
      query: new URLSearchParams(search),
      body,
      raw: request.body,
      headers: request.headers,
      listing: isList(route) ? lag.listing(`${caller?.personal ?? ''} ${request.path}`) : service.store,
      validation,
    };
    const outcome = service.store.database.share(() => route.handler(call));
    const answer = render(outcome, route.success);
    hidden.created(request.method, route.path, outcome);
    if (request.method !== 'HEAD') return answer;
    return { status: answer.status, headers: answer.headers, body: new Uint8Array() };
  }

  #checkRelease(request: SandboxRequest): void {
    const { releases } = this.#parts.service.rules;
    const release = request.headers['service-release'] ?? '';
    if (releases !== undefined && !releases.includes(release)) {
      throw new Refusal(400, `Service-Release: "${release}" is not served, use ${releases.join(', ')}`);
    }
  }

  #body(request: SandboxRequest, route: Route): unknown {
    if (route.body === undefined) return undefined;
    const limit = route.body === 'bytes' ? MAX_UPLOAD_BYTES : MAX_JSON_BYTES;
    if (request.body.length > limit) throw new Refusal(413, `the body is longer than ${limit} bytes`);
    if (route.body === 'bytes') return undefined;
    const empty = route.bodyOptional === true && request.body.length === 0;
    const body = empty ? {} : parseJsonObject(request.body);
    this.#parts.validation.check(route.body, body);
    if (this.#parts.service.rules.strictFields) refuseUnknown(route, body);
    return body;
  }
}

/** Members of request and answer bodies are known: what the service returned can always be sent back. */
function refuseUnknown(route: Route, body: object): void {
  const known = new Set([
    ...Object.keys(propertiesOf(route.body)),
    ...Object.keys(propertiesOf(route.answer)),
    ...(route.moreFields ?? []),
  ]);
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) throw invalid(`${unknown}: is not a field of this request`);
}

function propertiesOf(schema: Route['body'] | Route['answer']): object {
  return typeof schema === 'object' && 'properties' in schema ? (schema.properties as object) : {};
}

/** Whether the route is the interface's own and takes its headers; logging in does not (section 4). */
const ofService = (route: Route): boolean =>
  route.open !== true && /^\/(services|organizations)\//.test(route.path);

const NOBODY: Caller = {
  account: '',
  email: '',
  personal: '',
  organization: '',
  workspaces: new Set(),
  writes: new Set(),
};

/** A GET whose path does not end in a parameter lists records. */
const isList = (route: Route): boolean => route.method === 'GET' && !route.path.endsWith('}');

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Texts of users are in most answers: none is to be taken for a page or a script. */
const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };

const JSON_TYPE = { 'content-type': 'application/json' };

const encode = (text: string): Uint8Array => Buffer.from(text, 'utf8');

function render(outcome: Outcome, success: number): Answer {
  const answer = (body: Uint8Array, headers: Record<string, string>, status?: number): SandboxAnswer => ({
    status: status ?? success,
    headers: { ...NO_SNIFFING, ...headers },
    body,
  });
  if (outcome.kind === 'json') {
    const headers = { ...JSON_TYPE, ...outcome.headers };
    return answer(encode(JSON.stringify(outcome.value)), headers, outcome.status);
  }
  if (outcome.kind === 'text') {
    return answer(
      encode(outcome.text),
      { 'content-type': outcome.type ?? 'application/json', ...outcome.headers },
      outcome.status,
    );
  }
  if (outcome.kind === 'list') {
    const headers = { ...NO_SNIFFING, ...JSON_TYPE };
    const answered = { status: success, headers, chunks: listChunks(outcome.items) };
    return outcome.count > STREAM_FROM ? answered : collected(answered);
  }
  if (outcome.kind === 'bytes') {
    return answer(outcome.bytes, { 'content-type': outcome.type, ...outcome.headers });
  }
  return answer(new Uint8Array(), { ...outcome.headers }, outcome.status);
}

const NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
};

/** Every 4xx and 5xx has a JSON object with a text `message` (service-behaviour.md 6). */
function failure(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  reason: Refusal['reason'] = 'refused',
): SandboxAnswer {
  const named = { message, error: NAMES[status] ?? 'Error', code: status };
  const body = status === 400 ? { ...named, reason } : named;
  return {
    status,
    headers: { ...JSON_TYPE, ...NO_SNIFFING, ...headers },
    body: encode(JSON.stringify(body)),
  };
}

function faultAnswer(fault: Fault): SandboxAnswer {
  if (fault.redirect !== undefined) {
    return { status: fault.status ?? 302, headers: { location: fault.redirect }, body: new Uint8Array() };
  }
  const status = fault.status ?? 500;
  const retry: Record<string, string> =
    fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
  const answer = failure(status, fault.message ?? 'a fault that was asked for', retry);
  return fault.body === undefined ? answer : spoil(answer, fault.body);
}
