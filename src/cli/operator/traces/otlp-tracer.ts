import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { PastSpan, SpanAttributes, Tracer } from '../../../base/tracer.ts';

/** Sends one body of OTLP over HTTP as JSON; rejects when it was not taken. */
export type SendTraces = (body: string) => Promise<void>;

export interface OtlpTracerOptions {
  clock: Clock;
  log: Logger;
  send: SendTraces;
  /** Makes ids: so many random bytes, in hexadecimal. */
  randomHex: (bytes: number) => string;
  /** Attributes of the process, such as service.name. */
  resource: SpanAttributes;
}

interface Around {
  traceId: string;
  spanId: string;
  /** What was noted inside. */
  children: object[];
}

/** Spans gathered at most; a collector that is away must not cost memory. */
const LIMIT = 2_048;
/** Spans of one body. */
const BATCH = 512;
const FLUSH_MS = 5_000;
/** `SpanKind` and `StatusCode` of OTLP. */
const [INTERNAL, CLIENT, FAILED] = [1, 3, 2];

/**
 * Sends spans to an OpenTelemetry collector. A pass in which nothing was called is not worth a trace, unless it
 * failed: a settled resource is looked at from memory most of the time.
 */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpTracerOptions;
  readonly #around = new AsyncLocalStorage<Around>();
  #spans: object[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> = Promise.resolve();
  #failing = false;
  #closing = false;

  constructor(options: OtlpTracerOptions) {
    this.#options = options;
  }

  async within<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const { clock, randomHex } = this.#options;
    const around: Around = { traceId: randomHex(16), spanId: randomHex(8), children: [] };
    const [from, started] = [clock.now(), clock.monotonic()];
    let failure: string | undefined;
    try {
      return await this.#around.run(around, work);
    } catch (error) {
      failure = error instanceof Error ? error.name : typeof error;
      throw error;
    } finally {
      if (around.children.length > 0 || failure !== undefined) {
        const ms = clock.monotonic() - started;
        const span = spanOf({ name, attributes, ms, ...(failure === undefined ? {} : { failure }) }, from);
        this.#add({ ...span, traceId: around.traceId, spanId: around.spanId, kind: INTERNAL });
        for (const child of around.children) this.#add(child);
      }
    }
  }

  note(past: PastSpan): void {
    const around = this.#around.getStore();
    if (around === undefined || around.children.length >= LIMIT) return;
    const { traceId, spanId: parentSpanId } = around;
    const { clock, randomHex } = this.#options;
    const span = spanOf(past, clock.now() - past.ms);
    around.children.push({ ...span, traceId, spanId: randomHex(8), parentSpanId, kind: CLIENT });
  }

  /** Sends what is left. Call it once, at the end. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#flush();
    await this.#sending;
  }

  #add(span: object): void {
    if (this.#spans.length >= LIMIT) return;
    this.#spans.push(span);
    if (this.#spans.length >= BATCH) this.#flush();
    else this.#timer ??= this.#options.clock.setTimer(FLUSH_MS, () => this.#flush());
  }

  /** One body at a time; what comes meanwhile waits. */
  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending = this.#sending.then(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    while (this.#spans.length > 0) {
      const spans = this.#spans.splice(0, BATCH);
      const { log, resource, send } = this.#options;
      const scopeSpans = [{ scope: { name: 'boxwright' }, spans }];
      const body = { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
      try {
        await send(JSON.stringify(body));
        if (this.#failing) log.info({}, 'traces are delivered again');
        this.#failing = false;
      } catch (error) {
        // Traces are a convenience: they are dropped, and said once.
        if (!this.#failing) log.warn({ err: error }, 'traces are not delivered, they are dropped');
        this.#failing = true;
        // Whoever ends does not wait for a collector batch by batch.
        if (this.#closing) this.#spans = [];
      }
    }
  }
}

function spanOf({ name, attributes, ms, failure }: PastSpan, from: number): object {
  return {
    name,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(from + ms),
    attributes: attributesOf(attributes),
    ...(failure === undefined ? {} : { status: { code: FAILED, message: failure } }),
  };
}

/** OTLP has nanoseconds as text: they are beyond what a number holds. */
function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributesOf(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }));
}
