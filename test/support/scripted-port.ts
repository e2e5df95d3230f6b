import type { KubeAnswer, KubePort, KubeRequest, KubeWatch, WatchLine } from '../../src/kube/port.ts';

/**
 * A {@link KubePort} whose every answer a test gives by hand. Requests wait in order for
 * {@link ScriptedPort.answer} unless a handler is set; watches are {@link ScriptedWatch}.
 */
export class ScriptedPort implements KubePort {
  readonly requests: KubeRequest[] = [];
  readonly watchRequests: KubeRequest[] = [];
  readonly watches: ScriptedWatch[] = [];
  /** Answers requests; throw for a lost answer. */
  onRequest: (request: KubeRequest) => KubeAnswer | Promise<KubeAnswer> = () => answer(200, {});
  /** Answers watches; by default an open one that the test feeds. */
  onWatch: (request: KubeRequest) => ScriptedWatch | Promise<ScriptedWatch> = () => new ScriptedWatch();

  async request(request: KubeRequest): Promise<KubeAnswer> {
    this.requests.push(request);
    return orAborted(request.signal, async () => this.onRequest(request));
  }

  async watch(request: KubeRequest): Promise<KubeWatch> {
    this.watchRequests.push(request);
    const watch = await orAborted(request.signal, async () => this.onWatch(request));
    request.signal?.addEventListener('abort', () => watch.fail(request.signal?.reason as Error));
    this.watches.push(watch);
    return watch;
  }

  /** The newest watch. */
  get current(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (watch === undefined) throw new Error('no watch was opened');
    return watch;
  }
}

/** A watch that a test feeds. */
export class ScriptedWatch implements KubeWatch {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  closed = false;
  readonly #queue: (WatchLine | { end: Error | undefined })[] = [];
  #wake: () => void = () => undefined;

  constructor(refused?: KubeAnswer) {
    this.status = refused?.status ?? 200;
    this.headers = refused?.headers ?? {};
    if (refused !== undefined) this.body = refused.body;
  }

  push(type: WatchLine['type'], object: unknown): void {
    this.#queue.push({ type, object });
    this.#wake();
  }

  bookmark(resourceVersion: string): void {
    this.push('BOOKMARK', { kind: 'Widget', metadata: { resourceVersion } });
  }

  end(): void {
    this.#queue.push({ end: undefined });
    this.#wake();
  }

  fail(error: Error): void {
    this.#queue.push({ end: error });
    this.#wake();
  }

  close(): void {
    this.closed = true;
    this.end();
  }

  get events(): AsyncIterable<WatchLine> {
    return this.#lines();
  }

  async *#lines(): AsyncGenerator<WatchLine, void, undefined> {
    for (;;) {
      const next = this.#queue.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else if ('end' in next) {
        if (next.end !== undefined) throw next.end;
        return;
      } else {
        yield next;
      }
    }
  }
}

/** An answer with a JSON body. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): KubeAnswer {
  return { status, headers, body };
}

/** A Kubernetes Status answer. */
export function refusal(
  status: number,
  reason: string,
  details: { message?: string; retryAfterSeconds?: number; headers?: Record<string, string> } = {},
): KubeAnswer {
  const { message = reason, retryAfterSeconds, headers = {} } = details;
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message };
  return answer(
    status,
    retryAfterSeconds === undefined ? body : { ...body, details: { retryAfterSeconds } },
    headers,
  );
}

/** A list answer. */
export function listAnswer(resourceVersion: string, items: readonly unknown[], next?: string): KubeAnswer {
  return answer(200, { metadata: { resourceVersion, continue: next }, items });
}

async function orAborted<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  if (signal === undefined) return call();
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    call().then(resolve, reject);
  });
}
