import type { Clock } from '../../src/base/clock.ts';
import { KubeTransportError, type KubePort } from '../../src/kube/index.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../../src/service/index.ts';
import { ServiceTransportError } from '../../src/service/index.ts';

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
  | 'yes, and does nothing';

/** What the service makes of what it is sent. */
export type Habit =
  | 'lower-cases tags'
  | 'drops the last tag'
  | 'trims values'
  | 'keeps variables as they are'
  | 'refuses PORT 666'
  | 'drops the lease';

/** What the service shows that no schema of ours expects. */
export type Oddity =
  | 'machines of one name'
  | 'a machine without a name'
  | 'very long texts'
  | 'empty emails and provider names'
  | 'nulls where texts belong'
  | 'texts cut inside a character';

/** Who cannot be reached at all for a while. */
export type Silent = 'service' | 'API server';

interface Rule {
  call: CallName;
  answer: Answer;
  left: number;
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

  /** Until when each cannot be reached. */
  readonly #silent = new Map<Silent, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
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
    this.#silent.set(who, until);
  }

  /** When the last spell of blindness or silence is over, on the monotonic clock. */
  get badUntil(): number {
    return Math.max(this.#blind?.until ?? 0, ...this.#silent.values());
  }

  /** Everything is well again. */
  clear(): void {
    this.#rules = [];
    this.#habits.clear();
    this.#oddity = undefined;
    this.#blind = undefined;
    this.#silent.clear();
  }

  kube(port: KubePort): KubePort {
    const reached = (): void => {
      if (this.#isSilent('API server')) throw new KubeTransportError('no connection', { maybeSent: false });
    };
    return {
      request: async (request) => {
        reached();
        return port.request(request);
      },
      watch: async (request) => {
        reached();
        return port.watch(request);
      },
    };
  }

  port(port: ServicePort): ServicePort {
    return { ...port, send: (request) => this.#send(port, request) };
  }

  async #send(port: ServicePort, request: PortRequest): Promise<PortAnswer> {
    const text = `${request.method} ${request.path}`;
    if (this.#isSilent('service'))
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
    const given = await port.send(this.#habitual(request, text));
    return this.#odd(this.#withoutHidden(given, text), text);
  }

  #isSilent(who: Silent): boolean {
    return this.#clock.monotonic() < (this.#silent.get(who) ?? 0);
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

type Json = Record<string, unknown>;

const ODDITIES: Readonly<Record<Oddity, (body: unknown, text: string) => unknown>> = {
  'machines of one name': (body) => machines(body, (list) => [...list, ...list]),
  'a machine without a name': (body) => machines(body, (list) => list.map((one) => ({ ...one, name: '' }))),
  'very long texts': (body) =>
    machines(texts(body, 'email', 'x'.repeat(5_000)), (list) =>
      list.map((one) => ({ ...one, state: 'y'.repeat(5_000), address: { public: 'z'.repeat(5_000) } })),
    ),
  'empty emails and provider names': (body, text) =>
    /workspaces|providers/.test(text) && !/\/(instances|boxes)/.test(text)
      ? texts(texts(body, 'email', ''), 'name', '')
      : body,
  'nulls where texts belong': (body, text) =>
    /workspaces|providers/.test(text) && !/\/(instances|boxes)/.test(text)
      ? texts(body, 'email', null)
      : body,
  'texts cut inside a character': (body) =>
    machines(body, (list) => list.map((one) => ({ ...one, state: `${'\u{1f600}'.repeat(200)}\ud83d` }))),
};

function machines(body: unknown, change: (list: Json[]) => Json[]): unknown {
  if (Array.isArray(body)) return body.map((entry) => machines(entry, change));
  if (body === null || typeof body !== 'object') return body;
  const record = body as Json;
  return Array.isArray(record['machines'])
    ? { ...record, machines: change(record['machines'] as Json[]) }
    : record;
}

function texts(body: unknown, member: string, value: unknown): unknown {
  if (Array.isArray(body)) return body.map((entry) => texts(entry, member, value));
  if (body === null || typeof body !== 'object') return body;
  return member in body ? { ...body, [member]: value } : body;
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

function broken(): ServiceTransportError {
  return new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true });
}
