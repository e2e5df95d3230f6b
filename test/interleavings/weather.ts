import type { Clock } from '../../src/base/clock.ts';
import type { KubePort } from '../../src/kube/index.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../../src/service/index.ts';
import { ServiceTransportError } from '../../src/service/index.ts';
import { ClusterWeather } from './cluster-weather.ts';
import { ODDITIES, type Oddity } from './oddities.ts';

/** How long after its caller gave up a call may still reach the service, milliseconds: well within a lag window. */
const AFTER_ALL_MS = 10_000;
const PAGE = '<!doctype html><title>Sign in</title>';

/** Calls that something can happen to, by what they do. */
export const CALLS = {
  'create instance': /^POST \/services\/instances$/,
  'create box': /^POST \/services\/boxes$/,
  'put instance': /^PUT \/services\/instances\/[^/?]+$/,
  'put box': /^PUT \/services\/boxes\/[^/?]+$/,
  upload: /^POST \/services\/blobs\/upload/,
  shutdown: /^PUT \/services\/instances\/[^/?]+\/shutdown/,
  poweron: /^PUT \/services\/instances\/[^/?]+\/poweron/,
  reinstall: /^PUT \/services\/instances\/[^/?]+\/reinstall/,
  reconfigure: /^PUT \/services\/instances\/[^/?]+\/reconfigure/,
  terminate: /^DELETE \/services\/instances\/[^/?]+\?operation=terminate/,
  'delete instance': /^DELETE \/services\/instances\/[^/?]+(\?operation=delete)?$/,
  'delete box': /^DELETE \/services\/boxes\//,
  'read instance': /^GET \/services\/instances\/[^/?]+$/,
  'read box': /^GET \/services\/boxes\/[^/?]+$/,
  list: /^GET \/services\/workspaces\/[^/]+\/(instances|boxes)/,
  workspaces: /^GET \/services\/workspaces(\?|$)/,
} as const;

export type CallName = keyof typeof CALLS;

/** Reads that may trail. */
const TRAILING: readonly CallName[] = ['read instance', 'read box', 'list'];

/** What the service answers, beside what it does. */
export type Answer =
  | 400
  | 401
  | 403
  | 404
  | 409
  | 422
  | 429
  | '429 for 60 s'
  | 500
  | 503
  | '503 for 60 s'
  | 'reset'
  | 'lost'
  | '500 after'
  | 'yes, and does nothing'
  /** It does what it is asked and answers, shortly before the caller gives up. */
  | 'late'
  /** It does what it is asked before the caller gives up, and answers after. */
  | 'too late'
  /** It does what it is asked when the caller has given up already. */
  | 'after all'
  /** It does what it is asked; a proxy answers with a page. */
  | 'a page'
  | 'half an answer';

/** What the service makes of what it is sent. */
export type Habit =
  | 'lower-cases tags'
  | 'drops the last tag'
  | 'trims values'
  | 'keeps variables as they are'
  | 'refuses PORT 666'
  | 'drops the lease';

/** Who cannot be reached at all for a while. */
export type Silent = 'service' | 'API server';

interface Rule {
  call: CallName;
  answer: Answer;
  left: number;
}

/** What happens while a call is under way. */
interface Upon {
  call: CallName;
  when: 'before' | 'after';
  work: () => Promise<void>;
}

/** All that may be wrong for a while, between the operator and the embedded service, or the API server. */
export class Weather {
  readonly #clock: Clock;
  #rules: Rule[] = [];
  readonly #habits = new Set<Habit>();
  #oddity: Oddity | undefined;
  /** Ids that no read shows, or all of them. */
  #blind:
    { to: 'everything' | 'instances' | 'boxes'; with: 404 | 403; lists: boolean; until: number } | undefined;

  #upons: Upon[] = [];
  /** The GETs of records and lists that were sent last, service by service. */
  readonly #reads = new Map<ServicePort, Map<string, PortRequest>>();
  /** What those answered when reads began to trail. */
  #trailing:
    | { answers: ReadonlyMap<ServicePort, ReadonlyMap<string, Promise<PortAnswer>>>; until: number }
    | undefined;
  readonly cluster: ClusterWeather;

  /** Until when the service cannot be reached. */
  #silentUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.cluster = new ClusterWeather(clock);
  }

  /** The next `times` calls of that name are answered so. */
  answer(call: CallName, answer: Answer, times: number): void {
    this.#rules.push({ call, answer, left: times });
  }

  habit(habit: Habit): void {
    this.#habits.add(habit);
  }

  oddity(oddity: Oddity | undefined): void {
    this.#oddity = oddity;
  }

  /** Until {@link clock} says `until`, no read shows a record. */
  blind(to: 'everything' | 'instances' | 'boxes', status: 404 | 403, lists: boolean, until: number): void {
    this.#blind = { to, with: status, lists, until };
  }

  /** Until {@link clock} says `until`, no call reaches them. */
  silence(who: Silent, until: number): void {
    if (who === 'API server') this.cluster.silence(until);
    else this.#silentUntil = until;
  }

  /** Until {@link clock} says `until`, reads of records answer what they are now. */
  trail(until: number): void {
    const answers = new Map(
      [...this.#reads].map(([port, reads]) => [
        port,
        new Map([...reads].map(([text, request]) => [text, port.send(onItsOwn(request))])),
      ]),
    );
    this.#trailing = { answers, until };
  }

  /** Something happens right before or after the next call of that name reaches the service. */
  upon(call: CallName, when: 'before' | 'after', work: () => Promise<void>): void {
    this.#upons.push({ call, when, work });
  }

  /** When the last spell of blindness or silence is over, on the monotonic clock. */
  get badUntil(): number {
    const own = Math.max(this.#blind?.until ?? 0, this.#trailing?.until ?? 0, this.#silentUntil);
    return Math.max(own, this.cluster.badUntil);
  }

  /** Everything is well again. */
  clear(): void {
    this.#rules = [];
    this.#habits.clear();
    this.#oddity = undefined;
    this.#blind = undefined;
    this.#silentUntil = 0;
    this.#upons = [];
    this.#trailing = undefined;
    this.cluster.clear();
  }

  kube(port: KubePort): KubePort {
    return this.cluster.port(port);
  }

  port(port: ServicePort): ServicePort {
    return {
      ...port,
      send: async (request) => {
        const text = `${request.method} ${request.path}`;
        await this.#happens('before', text);
        try {
          return await this.#send(port, request, text);
        } finally {
          await this.#happens('after', text);
        }
      },
    };
  }

  async #happens(when: Upon['when'], text: string): Promise<void> {
    const isDue = (one: Upon): boolean => one.when === when && CALLS[one.call].test(text);
    const due = this.#upons.filter(isDue);
    if (due.length === 0) return;
    this.#upons = this.#upons.filter((one) => !isDue(one));
    for (const { work } of due) await work();
  }

  async #send(port: ServicePort, request: PortRequest, text: string): Promise<PortAnswer> {
    if (this.#clock.monotonic() < this.#silentUntil)
      throw new ServiceTransportError('Refused', 'no connection', { maybeSent: false });
    if (this.#clock.monotonic() >= (this.#blind?.until ?? 0)) this.#blind = undefined;
    const rule = this.#rules.find(({ call, left }) => left > 0 && CALLS[call].test(text));
    if (rule !== undefined) {
      rule.left -= 1;
      return this.#ruled(port, request, rule.answer);
    }
    if (this.#habits.has('refuses PORT 666') && /^(PUT|POST) \/services\/(instances|boxes)/.test(text)) {
      if (bodyOf(request).includes('"666"')) return refusal(400, 'PORT must not be 666');
    }
    const blind = this.#hidden(text);
    if (blind !== undefined) return blind;
    const trailing = await this.#asItWas(port, request, text);
    if (trailing !== undefined) return trailing;
    const given = await port.send(this.#habitual(request, text));
    return this.#odd(this.#withoutHidden(given, text), text);
  }

  /** What a read answers while reads trail. */
  async #asItWas(port: ServicePort, request: PortRequest, text: string): Promise<PortAnswer | undefined> {
    if (!TRAILING.some((call) => CALLS[call].test(text))) return undefined;
    this.#reads.set(port, (this.#reads.get(port) ?? new Map<string, PortRequest>()).set(text, request));
    if (this.#clock.monotonic() >= (this.#trailing?.until ?? 0)) this.#trailing = undefined;
    return this.#trailing?.answers.get(port)?.get(text);
  }

  async #ruled(port: ServicePort, request: PortRequest, answer: Answer): Promise<PortAnswer> {
    if (answer === 'reset') throw broken();
    if (answer === 'lost') {
      await port.send(request);
      throw broken();
    }
    if (answer === '500 after') {
      await port.send(request);
      return refusal(500, 'planned 500, after the fact');
    }
    if (answer === 'late') {
      await this.#clock.sleep(request.timeoutMs * 0.8, request.signal);
      return port.send(request);
    }
    if (answer === 'too late') {
      await this.#clock.sleep(request.timeoutMs * 0.8, request.signal);
      await port.send(request);
      await this.#clock.sleep(request.timeoutMs * 0.2, request.signal);
      throw givenUp();
    }
    if (answer === 'after all') {
      // It is on its way: whether the process that sent it lives on does not matter.
      this.#clock.setTimer(
        request.timeoutMs + AFTER_ALL_MS,
        () => void port.send(onItsOwn(request)).catch(() => undefined),
      );
      await this.#clock.sleep(request.timeoutMs, request.signal);
      throw givenUp();
    }
    if (answer === 'a page') {
      await port.send(request);
      return { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(PAGE) };
    }
    if (answer === 'half an answer') {
      const { body, status, headers } = await port.send(request);
      return { status, headers, body: body.slice(0, body.length / 2) };
    }
    if (answer === '429 for 60 s') return refusal(429, 'planned 429', { 'retry-after': '60' });
    if (answer === '503 for 60 s') return refusal(503, 'planned 503', { 'retry-after': '60' });
    if (answer === 'yes, and does nothing') return this.#pretended(port, request);
    return refusal(answer, `planned ${answer}`);
  }

  /** A write is taken and comes to nothing: the record is answered as it is. */
  async #pretended(port: ServicePort, request: PortRequest): Promise<PortAnswer> {
    const single = /^\/services\/(instances|boxes)\/[^/?]+$/.test(request.path);
    if (request.method !== 'PUT' || !single) return { status: 204, headers: {}, body: Buffer.alloc(0) };
    const { body: _, ...read } = request;
    return port.send({ ...read, method: 'GET' });
  }

  #hidden(text: string): PortAnswer | undefined {
    const blind = this.#blind;
    if (blind === undefined) return undefined;
    const single = /^GET \/services\/(instances|boxes)\/[^/?]+$/.exec(text);
    const hit = single !== null && (blind.to === 'everything' || blind.to === single[1]);
    return hit ? refusal(blind.with, `planned ${blind.with}`) : undefined;
  }

  #withoutHidden(given: PortAnswer, text: string): PortAnswer {
    const blind = this.#blind;
    const list = /^GET \/services\/workspaces\/[^/]+\/(instances|boxes)/.exec(text);
    if (blind?.lists !== true || list === null || given.status !== 200) return given;
    return blind.to === 'everything' || blind.to === list[1] ? withBody(given, []) : given;
  }

  #habitual(request: PortRequest, text: string): PortRequest {
    if (this.#habits.size === 0 || !/^(PUT|POST) \/services\/instances(\/[^/?]+)?$/.test(text))
      return request;
    const body = JSON.parse(bodyOf(request) || '{}') as {
      tags?: string[];
      instance_tags?: string[];
      variables?: { value?: unknown }[];
      lease?: object;
    };
    for (const member of ['tags', 'instance_tags'] as const) {
      const tags = body[member];
      if (tags === undefined) continue;
      if (this.#habits.has('lower-cases tags')) body[member] = tags.map((tag) => tag.toLowerCase());
      if (this.#habits.has('drops the last tag'))
        body[member] = tags.filter((tag, at) => tag.startsWith('bw-') || at < tags.length - 1);
    }
    if (this.#habits.has('trims values')) {
      for (const variable of body.variables ?? [])
        if (typeof variable.value === 'string') variable.value = variable.value.trim();
    }
    if (this.#habits.has('keeps variables as they are') && text.startsWith('PUT')) delete body.variables;
    if (this.#habits.has('drops the lease')) delete body.lease;
    return { ...request, body: JSON.stringify(body) };
  }

  #odd(given: PortAnswer, text: string): PortAnswer {
    const oddity = this.#oddity;
    if (oddity === undefined || given.status !== 200 || !text.startsWith('GET')) return given;
    let body: unknown;
    try {
      body = JSON.parse(Buffer.from(given.body).toString());
    } catch {
      return given;
    }
    return withBody(given, ODDITIES[oddity](body, text));
  }
}

/** A request that nobody waits for. */
function onItsOwn(request: PortRequest): PortRequest {
  const alone = { ...request };
  delete alone.signal;
  delete alone.sink;
  delete alone.hold;
  return alone;
}

function bodyOf({ body }: PortRequest): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : Buffer.from(body).toString();
}

function withBody(given: PortAnswer, body: unknown): PortAnswer {
  return { ...given, body: Buffer.from(JSON.stringify(body)) };
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): PortAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify({ message })),
  };
}

function givenUp(): ServiceTransportError {
  return new ServiceTransportError('Timeout', 'no answer in time', { maybeSent: true });
}

function broken(): ServiceTransportError {
  return new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true });
}
