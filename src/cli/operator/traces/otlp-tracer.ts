import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../base/clock.ts';
import type { PastSpan, SpanAttributes, Tracer } from '../../../base/tracer.ts';

export interface OtlpTracerOptions {
  clock: Clock;
  /** Takes each span, in the form of OTLP. */
  add: (span: object) => void;
  /** Makes ids: so many random bytes, in hexadecimal. */
  randomHex: (bytes: number) => string;
}

interface Around {
  traceId: string;
  spanId: string;
  /** What was noted inside. */
  children: object[];
}

/** Calls of one pass that are noted at most. */
const MAX_CHILDREN = 2_048;
/** `SpanKind` and `StatusCode` of OTLP. */
const [INTERNAL, CLIENT, FAILED] = [1, 3, 2];

/**
 * Makes spans of OpenTelemetry. A pass in which nothing was called is not worth a trace, unless it failed: a
 * settled resource is looked at from memory most of the time.
 */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpTracerOptions;
  readonly #around = new AsyncLocalStorage<Around>();

  constructor(options: OtlpTracerOptions) {
    this.#options = options;
  }

  async within<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const { add, clock, randomHex } = this.#options;
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
        add({ ...span, traceId: around.traceId, spanId: around.spanId, kind: INTERNAL });
        for (const child of around.children) add(child);
      }
    }
  }

  note(past: PastSpan): void {
    const around = this.#around.getStore();
    if (around === undefined || around.children.length >= MAX_CHILDREN) return;
    const { traceId, spanId: parentSpanId } = around;
    const { clock, randomHex } = this.#options;
    const span = spanOf(past, clock.now() - past.ms);
    around.children.push({ ...span, traceId, spanId: randomHex(8), parentSpanId, kind: CLIENT });
  }
}

/** The body of one export: spans of this process, whose attributes `resource` has. */
export function encodeSpans(resource: SpanAttributes, spans: readonly object[]): string {
  const scopeSpans = [{ scope: { name: 'boxwright' }, spans }];
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }],
  });
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
