import type { Clock } from '../../src/base/clock.ts';
import {
  KubeTransportError,
  type KubeAnswer,
  type KubePort,
  type KubeRequest,
  type KubeWatch,
  type WatchLine,
} from '../../src/kube/index.ts';

/** Writes that something can happen to, by what they change. */
export const WRITES = {
  status: ({ method, path }: KubeRequest) => method === 'PATCH' && path.endsWith('/status'),
  metadata: ({ method, path }: KubeRequest) => method === 'PATCH' && !path.endsWith('/status'),
} as const;

export type WriteName = keyof typeof WRITES;

/** What the API server answers a write, beside what it does. */
export type Refusal = 403 | 409 | 429 | 500 | 503 | 'reset' | 'lost';

interface Rule {
  write: WriteName;
  answer: Refusal;
  left: number;
}

/** What may be wrong for a while between the operator and the API server. */
export class ClusterWeather {
  readonly #clock: Clock;
  #rules: Rule[] = [];
  #silentUntil = 0;
  #mutedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next `times` writes of that name are answered so. */
  answer(write: WriteName, answer: Refusal, times: number): void {
    this.#rules.push({ write, answer, left: times });
  }

  /** Until the clock says `until`, no call reaches it. */
  silence(until: number): void {
    this.#silentUntil = Math.max(this.#silentUntil, until);
  }

  /** Until the clock says `until`, open watches bring nothing. */
  mute(until: number): void {
    this.#mutedUntil = Math.max(this.#mutedUntil, until);
  }

  /** When the last spell is over, on the monotonic clock. */
  get badUntil(): number {
    return Math.max(this.#silentUntil, this.#mutedUntil);
  }

  clear(): void {
    this.#rules = [];
    this.#silentUntil = 0;
    this.#mutedUntil = 0;
  }

  port(port: KubePort): KubePort {
    return {
      request: async (request) => {
        this.#reached();
        const rule = this.#rules.find(({ write, left }) => left > 0 && WRITES[write](request));
        if (rule === undefined) return port.request(request);
        rule.left -= 1;
        return ruled(port, request, rule.answer);
      },
      watch: async (request) => {
        this.#reached();
        const watch: KubeWatch = await port.watch(request);
        return { ...watch, events: this.#heard(watch.events, request.signal), close: () => watch.close() };
      },
    };
  }

  #reached(): void {
    if (this.#clock.monotonic() < this.#silentUntil)
      throw new KubeTransportError('no connection', { maybeSent: false });
  }

  async *#heard(events: AsyncIterable<WatchLine>, signal?: AbortSignal): AsyncIterable<WatchLine> {
    for await (const line of events) {
      const left = this.#mutedUntil - this.#clock.monotonic();
      if (left > 0) await this.#clock.sleep(left, signal);
      yield line;
    }
  }
}

async function ruled(port: KubePort, request: KubeRequest, answer: Refusal): Promise<KubeAnswer> {
  if (answer === 'reset') throw new KubeTransportError('connection reset', { maybeSent: true });
  if (answer === 'lost') {
    await port.request(request);
    throw new KubeTransportError('connection reset', { maybeSent: true });
  }
  const [reason, message] = WORDS[answer];
  return {
    status: answer,
    headers: {},
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: answer, reason, message },
  };
}

const WORDS: Readonly<Record<Exclude<Refusal, string>, readonly [reason: string, message: string]>> = {
  403: ['Forbidden', 'admission policy "planned" denied the request'],
  409: ['Conflict', 'Operation cannot be fulfilled: the object has been modified'],
  429: ['TooManyRequests', 'the server has received too many requests'],
  500: ['InternalError', 'an error on the server'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
};
