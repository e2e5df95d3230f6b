import { exactJson } from '../../base/exact-json.ts';
import type { SecretSet } from '../../base/masking/secret-set.ts';
import type { Clock } from '../../base/clock.ts';
import { countJson, type CountedJson } from '../../base/json-size.ts';
import { MemoryBudgetError, weightOf, type Hold, type MemoryShare } from '../../base/memory-budget.ts';
import { Priority, type Lane } from '../../base/priority.ts';
import { parseRetryAfter } from '../../base/retry-after.ts';
import type { Turns } from '../../base/turns.ts';
import { ServiceError } from '../errors.ts';
import type { Breaker, Ticket } from '../pace/breaker.ts';
import type { Pace, Permit } from '../pace/pace.ts';
import { ServiceTransportError } from '../port.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../port.ts';
import type { CallOptions, Read, Write } from '../results.ts';
import type { ClockSkew } from './clock-skew.ts';
import type { Effect } from './classify.ts';
import {
  codeOfStatus,
  effectOfStatus,
  hintOfStatus,
  serviceMessageOf,
  transportServiceError,
} from './classify.ts';
import { BadAnswer, textOf } from './decode.ts';
import type { ListReading } from './list-reading.ts';
import { BadId, fillPath } from './path.ts';
import type { Session, Token } from './session.ts';
import type { Stamps } from './stamps.ts';
import { warningsOf } from './warnings.ts';

/** One call in the words of a family. */
export interface CallSpec {
  method: PortRequest['method'];
  template: string;
  params?: Readonly<Record<string, string>> | undefined;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  /** Sent as JSON, or as it is. */
  body?: { json: unknown } | { bytes: Uint8Array; contentType: string } | undefined;
  /** Bytes of the largest answer; default: that of a record. */
  maxBytes?: number | undefined;
  /** The answer is no JSON. */
  isText?: boolean | undefined;
  /** Sent without a token: the login, and the list of login providers. */
  anonymous?: boolean | undefined;
}

/** Makes a value of a 2xx answer; throws {@link BadAnswer}. */
export type Decoder<T> = (answer: PortAnswer) => T;

/** How the answer of one attempt is read: as it arrives, or as a whole. */
interface Reading<T> {
  list?: ListReading<unknown>;
  decode: Decoder<T>;
}

/** Smaller bodies are neither weighed nor charged, bytes. */
const SMALL_BODY = 16_384;
/** So many refused calls are known. */
const REFUSED_KEPT = 256;
/** What a call takes by itself: its connection, and what waits there of the answer, bytes. */
const CALL_BYTES = 131_072;
/** What weighs more is charged for a while after it was read, since whoever asked has it in hand, bytes. */
const SMALL_RECORD = 65_536;
/** For so long: the more it weighs the longer, milliseconds. */
const inHandMs = (weight: number): number => Math.min((weight / 16_384) * 1_000, 60_000);

/** One finished call, for metrics. */
export interface CallReport {
  method: string;
  template: string;
  /** Undefined without an answer. */
  status: number | undefined;
  /** From sending to the end of the answer; 0 when it was not sent. */
  ms: number;
  /** `ok`, or the error's code (also `NotFound` for a read's 404). */
  outcome: string;
  /** How long it stood in line for the budget, milliseconds; undefined when it did not come to that. */
  waitedMs: number | undefined;
  /** In which it stood when it was over. */
  lane: Lane;
}

export interface CallerOptions {
  port: ServicePort;
  session: Session;
  pace: Pace;
  breaker: Breaker<ServiceError>;
  stamps: Stamps;
  clock: Clock;
  clockSkew: ClockSkew;
  headersFor(token: string | undefined): Record<string, string>;
  recordBytes: number;
  /** Values of one record's answer. */
  recordValues: number;
  memory: MemoryShare;
  turns: Turns;
  timeoutMs: number;
  report(call: CallReport): void;
  /** What no error may show. */
  secrets: SecretSet;
}

type Attempt<T> =
  | { kind: 'ok'; value: T; warnings: readonly string[]; startedAt: number; endedAt: number }
  | { kind: 'failed'; effect: Effect; error: ServiceError; startedAt: number; endedAt: number };

/**
 * Sends calls: turn, breaker, token, port, and what the answer means. Everything that the service or the way
 * to it can do ends as a result; only an abort rejects.
 */
export class Caller {
  readonly #options: CallerOptions;
  /** Writes that the token of a new login was refused for, and that token: other calls pass, and another login is no use. */
  readonly #refusedFresh = new Map<string, Token>();
  /** Lets go of what is charged for a while. */
  readonly #inHand = new Set<() => void>();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async read<T>(spec: CallSpec, decode: Decoder<T>, options: CallOptions = {}): Promise<Read<T>> {
    return readOf(await this.call(spec, decode, options));
  }

  /** Reads a list as it arrives; `begin` makes a new reading for each attempt. */
  async readList<Entry>(
    spec: CallSpec,
    begin: () => ListReading<Entry>,
    options: CallOptions = {},
  ): Promise<Read<readonly Entry[]>> {
    let weight = 0;
    const attempt = await this.#call(
      spec,
      () => {
        const list = begin();
        const decode = ({ body }: PortAnswer): readonly Entry[] => {
          // A port that does not hand out pieces has it all.
          if (body.byteLength > 0) list.push(body);
          const entries = list.end();
          ({ weight } = list);
          return entries;
        };
        return { list, decode };
      },
      options,
    );
    const read = readOf(attempt);
    return read.kind === 'found' ? { ...read, weight } : read;
  }

  async write<T>(
    spec: CallSpec,
    decode: Decoder<T | undefined>,
    options: CallOptions = {},
  ): Promise<Write<T>> {
    const attempt = await this.call(spec, decode, options);
    const { startedAt, endedAt } = attempt;
    if (attempt.kind === 'ok') {
      const { value: record, warnings } = attempt;
      return { kind: 'ok', record, startedAt, endedAt, ...(warnings.length === 0 ? {} : { warnings }) };
    }
    const { error } = attempt;
    switch (attempt.effect) {
      case 'notSent':
        return { kind: 'notSent', error };
      case 'refused':
        return { kind: 'refused', error, startedAt, endedAt };
      case 'unknown':
        return { kind: 'unknown', error, startedAt, endedAt };
      default:
        return attempt.effect satisfies never;
    }
  }

  /** One call, with one more after a new login where the first was answered 401. */
  call<T>(spec: CallSpec, decode: Decoder<T>, options: CallOptions): Promise<Attempt<T>> {
    return this.#call(spec, () => ({ decode }), options);
  }

  async #call<T>(spec: CallSpec, begin: () => Reading<T>, options: CallOptions): Promise<Attempt<T>> {
    options.signal?.throwIfAborted();
    if (spec.anonymous) return this.#attempt(spec, begin(), options, undefined);
    const { session } = this.#options;
    const first = await session.token(options.signal);
    if (first.kind === 'error') return this.#unsent(spec, options, reword(spec, first.error));
    const attempt = await this.#attempt(spec, begin(), options, first.token);
    if (!isUnauthorized(attempt)) {
      if (this.#refusedFresh.size > 0) this.#refusedFresh.delete(callOf(spec));
      return attempt;
    }
    const call = callOf(spec);
    // A token that was never let in for anything may be worth nothing, however new.
    const isKnown = this.#refusedFresh.get(call)?.generation === first.token.generation;
    if (isKnown && session.wasLetIn(first.token)) return attempt;
    const renewed = await session.renew(first.token, options.signal);
    if (renewed === undefined) return attempt;
    if (renewed.kind === 'error') {
      // The 401 proves that the call had no effect; why there is no new token tells more than that 401.
      return renewed.error.code === 'CredentialsRejected'
        ? attempt
        : this.#unsent(spec, options, reword(spec, renewed.error));
    }
    const second = await this.#attempt(spec, begin(), options, renewed.token);
    if (isUnauthorized(second)) {
      session.refusedFresh(second.error);
      this.#noteRefused(call, renewed.token);
    }
    return second;
  }

  #noteRefused(call: string, token: Token): void {
    this.#refusedFresh.delete(call);
    this.#refusedFresh.set(call, token);
    const [oldest] = this.#refusedFresh.keys();
    if (this.#refusedFresh.size > REFUSED_KEPT && oldest !== undefined) this.#refusedFresh.delete(oldest);
  }

  async #attempt<T>(
    spec: CallSpec,
    reading: Reading<T>,
    options: CallOptions,
    token: Token | undefined,
  ): Promise<Attempt<T>> {
    const { clock, pace, breaker, stamps } = this.#options;
    let path: string;
    try {
      path = fillPath(spec.template, spec.params ?? {}, spec.query);
    } catch (error) {
      if (!(error instanceof BadId)) throw error;
      return this.#unsent(spec, options, fail(spec, 'BadId', { detail: error.message }));
    }
    const refusal = breaker.refusal();
    if (refusal !== undefined) return this.#refusedByBreaker(spec, options, refusal);
    const lineFrom = clock.monotonic();
    const turn = await pace.acquire(options.priority ?? new Priority(), options.signal);
    const waitedMs = clock.monotonic() - lineFrom;
    if (turn.kind === 'closed') return this.#unsent(spec, options, fail(spec, 'Closed', {}), waitedMs);
    if (turn.kind === 'paused') {
      const detail = 'the service asked to wait; not sent';
      const error = fail(spec, 'Throttled', { retryAfterMs: turn.retryAfterMs, detail });
      return this.#unsent(spec, options, error, waitedMs);
    }
    if (options.signal?.aborted) {
      // Aborted between the turn and the next line: nothing may go out any more.
      turn.permit.refund();
      throw options.signal.reason;
    }
    const entry = breaker.enter();
    if (entry.kind === 'open') {
      turn.permit.refund();
      return this.#refusedByBreaker(spec, options, entry, waitedMs);
    }
    // Of what is sent, until the answer comes; then of the answer.
    const hold = this.#options.memory.open('answers');
    // Only now: what stands in line must not hold what it will send.
    const request = this.#request(spec, options, token, { path, hold, list: reading.list });
    try {
      await hold.set(CALL_BYTES + sizeOf(request.body), options.signal);
    } catch (error) {
      hold.release();
      turn.permit.refund();
      breaker.undecided(entry.ticket);
      if (!(error instanceof MemoryBudgetError)) throw error;
      return this.#unsent(spec, options, fail(spec, 'MemoryFull', { detail: error.message }), waitedMs);
    }
    const startedAt = stamps.next();
    options.onStart?.(startedAt);
    let outcome: Outcome;
    try {
      outcome = await this.#send(request, spec, options, turn.permit, entry.ticket);
      if (token !== undefined && isOk(outcome)) this.#options.session.accepted(token);
      // A list is weighed entry by entry, as it is read.
      if (reading.list === undefined) outcome = await this.#weighed(outcome, spec, options, hold);
    } catch (error) {
      hold.release();
      throw error;
    }
    const endedAt = stamps.next();
    const attempt = this.#judge(outcome, spec, reading.decode, { startedAt, endedAt });
    this.#letGo(hold, outcome);
    const status = outcome.kind === 'answer' ? outcome.answer.status : undefined;
    this.#report(spec, options, { status, ms: endedAt - startedAt, waitedMs }, attempt);
    return attempt;
  }

  /** The port's part; tells breaker and budget what they need to know. Rejects only when aborted. */
  async #send(
    request: PortRequest,
    spec: CallSpec,
    options: CallOptions,
    permit: Permit,
    ticket: Ticket,
  ): Promise<Outcome> {
    const { port, breaker, clock, clockSkew, pace, secrets } = this.#options;
    const sentAt = clock.now();
    try {
      const answer = await port.send(request);
      clockSkew.note(answer.headers, sentAt, clock.now());
      if (answer.status >= 500) breaker.failed(ticket, this.#statusError(spec, answer, undefined));
      else breaker.succeeded(ticket);
      if (answer.status !== 429 && answer.status < 500) pace.accepted();
      return { kind: 'answer', answer };
    } catch (error) {
      if (options.signal?.aborted) {
        breaker.undecided(ticket);
        throw options.signal.reason;
      }
      const failure = asTransportError(error);
      const told = transportServiceError(spec.method, spec.template, failure, secrets);
      if (failure.code === 'NotAllowed') breaker.undecided(ticket);
      else if (failure.code === 'TooLarge' || failure.code === 'MemoryFull') breaker.succeeded(ticket);
      else breaker.failed(ticket, told);
      return { kind: 'none', error: told, maybeSent: failure.maybeSent };
    } finally {
      permit.release();
    }
  }

  /** Sees to it that there is room for what comes of the answer, before it is parsed, and takes its turn for that. */
  async #weighed(outcome: Outcome, spec: CallSpec, { signal }: CallOptions, hold: Hold): Promise<Outcome> {
    if (outcome.kind === 'none') return outcome;
    const { body } = outcome.answer;
    const bytes = body.byteLength;
    if (bytes < SMALL_BODY) return outcome;
    const { turns, recordValues } = this.#options;
    await turns.take();
    const counted =
      spec.isText === true ? undefined : (outcome.answer.counted ?? countedWithin(body, recordValues));
    const weight = weightOf(bytes, counted?.values ?? (spec.isText === true ? 0 : recordValues));
    try {
      await hold.set(bytes + weight, signal);
    } catch (error) {
      if (!(error instanceof MemoryBudgetError)) throw error;
      return { kind: 'none', error: fail(spec, 'MemoryFull', { detail: error.message }), maybeSent: true };
    }
    await turns.take();
    const text = spec.isText === true ? undefined : textOf(body);
    await turns.take();
    return {
      ...outcome,
      weight,
      answer: {
        ...outcome.answer,
        ...(counted === undefined ? {} : { counted }),
        ...(text === undefined ? {} : { text }),
      },
    };
  }

  /** The body is let go of; what was made of it is charged for as long as it may be in hand. */
  #letGo(hold: Hold, outcome: Outcome): void {
    const weight = outcome.kind === 'answer' ? (outcome.weight ?? 0) : 0;
    if (weight <= SMALL_RECORD) {
      hold.release();
      return;
    }
    hold.trySet(weight);
    const letGo = (): void => {
      timer.cancel();
      hold.release();
      this.#inHand.delete(letGo);
    };
    const timer = this.#options.clock.setTimer(inHandMs(weight), letGo);
    this.#inHand.add(letGo);
  }

  /** Nothing is charged any more for what was read. */
  close(): void {
    for (const letGo of this.#inHand) letGo();
  }

  #judge<T>(
    outcome: Outcome,
    spec: CallSpec,
    decode: Decoder<T>,
    at: { startedAt: number; endedAt: number },
  ): Attempt<T> {
    if (outcome.kind === 'none') {
      return {
        kind: 'failed',
        effect: outcome.maybeSent ? 'unknown' : 'notSent',
        error: outcome.error,
        ...at,
      };
    }
    const { answer } = outcome;
    if (answer.status >= 200 && answer.status < 300) {
      try {
        const warnings = warningsOf(answer, this.#options.secrets);
        return { kind: 'ok', value: decode(answer), warnings, ...at };
      } catch (error) {
        if (!(error instanceof BadAnswer)) throw error;
        const told = fail(spec, error.code, { status: answer.status, detail: error.message });
        return { kind: 'failed', effect: 'unknown', error: told, ...at };
      }
    }
    let retryAfterMs = parseRetryAfter(answer.headers['retry-after'], this.#options.clock.now());
    if (answer.status === 429 || (answer.status === 503 && retryAfterMs !== undefined)) {
      retryAfterMs = this.#options.pace.throttled(retryAfterMs);
    }
    const error = this.#statusError(spec, answer, retryAfterMs);
    return { kind: 'failed', effect: effectOfStatus(answer.status), error, ...at };
  }

  #statusError(spec: CallSpec, answer: PortAnswer, retryAfterMs: number | undefined): ServiceError {
    return fail(spec, codeOfStatus(answer.status), {
      status: answer.status,
      serviceMessage: serviceMessageOf(answer, this.#options.secrets),
      detail: hintOfStatus(answer.status),
      retryAfterMs,
    });
  }

  #refusedByBreaker(
    spec: CallSpec,
    options: CallOptions,
    { retryAfterMs, cause }: { retryAfterMs: number; cause: ServiceError },
    waitedMs?: number,
  ): Attempt<never> {
    return this.#unsent(spec, options, fail(spec, 'BreakerOpen', { retryAfterMs, cause }), waitedMs);
  }

  #unsent(spec: CallSpec, options: CallOptions, error: ServiceError, waitedMs?: number): Attempt<never> {
    const at = this.#options.stamps.next();
    const attempt: Attempt<never> = { kind: 'failed', effect: 'notSent', error, startedAt: at, endedAt: at };
    this.#report(spec, options, { status: undefined, ms: 0, waitedMs }, attempt);
    return attempt;
  }

  #request(
    spec: CallSpec,
    options: CallOptions,
    token: Token | undefined,
    { path, hold, list }: { path: string; hold: Hold; list: ListReading<unknown> | undefined },
  ): PortRequest {
    const headers = this.#options.headersFor(token?.value);
    const { body } = spec;
    if (body !== undefined) headers['content-type'] = 'json' in body ? 'application/json' : body.contentType;
    return {
      method: spec.method,
      path,
      headers,
      hold,
      ...(list === undefined ? {} : { sink: list }),
      ...(body === undefined ? {} : { body: 'json' in body ? exactJson(body.json) : body.bytes }),
      maxBytes: spec.maxBytes ?? this.#options.recordBytes,
      ...(list !== undefined || spec.isText === true ? {} : { maxValues: this.#options.recordValues }),
      timeoutMs: options.timeoutMs ?? this.#options.timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
  }

  #report(
    { method, template }: CallSpec,
    { priority }: CallOptions,
    times: Pick<CallReport, 'status' | 'ms' | 'waitedMs'>,
    attempt: Attempt<unknown>,
  ): void {
    const outcome = attempt.kind === 'ok' ? 'ok' : attempt.error.code;
    this.#options.report({ method, template, outcome, lane: priority?.lane ?? 'normal', ...times });
  }
}

/** How a call ended at the port. */
type Outcome =
  | { kind: 'answer'; answer: PortAnswer; weight?: number }
  | { kind: 'none'; error: ServiceError; maybeSent: boolean };

function readOf<T>(attempt: Attempt<T>): Read<T> {
  if (attempt.kind === 'ok') return { kind: 'found', record: attempt.value, startedAt: attempt.startedAt };
  if (attempt.error.status === 404) return { kind: 'missing', startedAt: attempt.startedAt };
  return { kind: 'unknown', error: attempt.error };
}

function sizeOf(body: string | Uint8Array | undefined): number {
  return body?.length ?? 0;
}

/** What a body holds; undefined where that is more than the limit, which is for the decoder to refuse. */
function countedWithin(body: Uint8Array, values: number): CountedJson | undefined {
  try {
    return countJson(body, { values, depth: Infinity });
  } catch {
    return undefined;
  }
}

function isOk(outcome: Outcome): boolean {
  return outcome.kind === 'answer' && outcome.answer.status >= 200 && outcome.answer.status < 300;
}

/** What is called, and of which record: the same for every try. */
function callOf({ method, template, params }: CallSpec): string {
  return `${method} ${template} ${JSON.stringify(params ?? {})}`;
}

function isUnauthorized(attempt: Attempt<unknown>): attempt is Attempt<never> & { kind: 'failed' } {
  return attempt.kind === 'failed' && attempt.error.status === 401;
}

function fail(
  spec: CallSpec,
  code: ServiceError['code'],
  details: Omit<ConstructorParameters<typeof ServiceError>[0], 'code' | 'method' | 'template'>,
): ServiceError {
  return new ServiceError({ code, method: spec.method, template: spec.template, ...details });
}

/** A missing token is told as what it is, but an unusable one names the call that wanted it. */
function reword(spec: CallSpec, error: ServiceError): ServiceError {
  if (error.code !== 'CredentialsUnusable') return error;
  return fail(spec, error.code, {
    detail: 'the token is empty or cannot travel in a header; check the Secret',
  });
}

function asTransportError(error: unknown): ServiceTransportError {
  if (error instanceof ServiceTransportError) return error;
  // A port that fails in another way: what it says may hold anything, so only its kind is told, and no cause.
  const kind = error instanceof Error ? error.name : typeof error;
  return new ServiceTransportError('Broken', `the call failed unexpectedly with ${kind}`, {
    maybeSent: true,
  });
}
