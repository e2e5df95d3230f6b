import type { Clock, Random, Timer } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';

/** What a collector said of a body. */
export type Delivery =
  | { kind: 'taken' }
  /** It will not take this one: another try is in vain. */
  | { kind: 'refused'; why: string }
  /** It asks for another try, `afterMs` from now at the earliest where it said when. */
  | { kind: 'busy'; why: string; afterMs?: number };

/** Sends one body of OTLP over HTTP as JSON; rejects when no answer came. */
export type SendTraces = (body: string, signal: AbortSignal) => Promise<Delivery>;

/**
 * Why spans were dropped: `full`, there were more than wait at most; `refused`, the collector did not take them;
 * `unreachable`, it did not answer; `ended`, the process did not wait for it.
 */
export type DropReason = 'full' | 'refused' | 'unreachable' | 'ended';

export interface SpanExporterOptions {
  clock: Clock;
  random: Random;
  log: Logger;
  send: SendTraces;
  /** Puts spans into the body that is sent. */
  encode: (spans: readonly object[]) => string;
  onDrop: (spans: number, reason: DropReason) => void;
}

/** Spans that wait at most, besides those being sent: a collector that is away must not cost memory. */
const LIMIT = 2_048;
/** Spans of one body. */
const BATCH = 512;
const FLUSH_MS = 5_000;
/** Times that a body is sent to a collector that asks for another try. */
const TRIES = 5;
/** Before the second try, doubled for each further one, where the collector does not say how long. */
const BACKOFF_MS = 1_000;
/** However long a collector asks to wait, it is asked again after this: what comes meanwhile would be dropped. */
const MAX_WAIT_MS = 30_000;
/** For everything that is left at the end. */
const END_MS = 5_000;

/**
 * Gathers spans and sends them, one body at a time. What a collector does not take is dropped and counted, and
 * said once until it takes something again: traces are a convenience, and wait for nobody.
 */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #ending = new AbortController();
  readonly #giveUp = new AbortController();
  #spans: object[] = [];
  #timer: Timer | undefined;
  #working: Promise<void> | undefined;
  #failing = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(span: object): void {
    const { clock, onDrop } = this.#options;
    if (this.#ending.signal.aborted) onDrop(1, 'ended');
    else if (this.#spans.length >= LIMIT) onDrop(1, 'full');
    else {
      this.#spans.push(span);
      if (this.#spans.length >= BATCH && this.#working === undefined) this.#flush();
      else this.#timer ??= clock.setTimer(FLUSH_MS, () => this.#flush());
    }
  }

  /** Sends what is left, for a few seconds at most. Call it once, at the end. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the end'));
    const limit = this.#options.clock.setTimer(END_MS, () => this.#giveUp.abort(new Error('the end')));
    this.#flush();
    await this.#working;
    limit.cancel();
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#working ??= this.#sendAll().finally(() => {
      this.#working = undefined;
    });
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    const { log, onDrop } = this.#options;
    while (this.#spans.length > 0) {
      const spans = this.#spans.splice(0, BATCH);
      const failure = await this.#deliver(spans);
      if (failure === undefined) {
        if (this.#failing) log.info({}, 'traces are delivered again');
        this.#failing = false;
        continue;
      }
      onDrop(spans.length, failure.reason);
      if (!this.#failing) log.warn({ why: failure.why }, 'traces are not delivered, they are dropped');
      this.#failing = true;
      // Whoever ends does not wait for a collector batch by batch.
      if (this.#ending.signal.aborted) onDrop(this.#spans.splice(0).length, 'ended');
    }
  }

  /** Undefined when a collector has taken them. */
  async #deliver(spans: readonly object[]): Promise<{ reason: DropReason; why: string } | undefined> {
    const { clock, encode, log, random, send } = this.#options;
    let body: string | undefined;
    for (let tried = 1; ; tried++) {
      try {
        body ??= encode(spans);
        const answer = await send(body, this.#giveUp.signal);
        if (answer.kind === 'taken') return undefined;
        const { why } = answer;
        if (answer.kind === 'refused' || tried === TRIES) return { reason: 'refused', why };
        if (tried === 1 && !this.#failing) log.info({ why }, 'traces wait for a collector that is busy');
        const backoff = BACKOFF_MS * 2 ** (tried - 1) * (1 + random());
        await clock.sleep(Math.min(answer.afterMs ?? backoff, MAX_WAIT_MS), this.#ending.signal);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { reason: this.#ending.signal.aborted ? 'ended' : 'unreachable', why };
      }
    }
  }
}
