import { factsOf, REASONS, type Reason } from '../../api/reasons.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Row } from '../watch/row.ts';

/** How a run ended that ends by itself. */
export type Outcome = 'Ready' | 'Stalled' | 'TimedOut';

/** Something that was applied, and what is known of it; no row until the cache has seen it. */
export interface Expected {
  kind: string;
  name: string;
  row?: Row;
}

/**
 * How long everything must stay as it is before nothing more is expected, milliseconds: a resource that
 * refers to one that was just mended is looked at a moment later.
 */
export const SETTLE_MS = 2_000;

/** Waits for something else: it goes nowhere by itself while that something is stalled or missing. */
const WAITS: ReadonlySet<string> = new Set<Reason>([
  'WaitingForReference',
  'WaitingForConnection',
  'WaitingForSecret',
]);

/**
 * Notices when nothing more is to be waited for: all is Ready or, where nobody is there to mend it
 * (`untilStalled`), something is stalled and nothing moves.
 */
export class Waiting {
  /** Resolves once, and stays pending when neither comes. */
  readonly end: Promise<'Ready' | 'Stalled'>;
  readonly #clock: Clock;
  readonly #untilStalled: boolean;
  #finish: (outcome: 'Ready' | 'Stalled') => void = () => undefined;
  #settling: Timer | undefined;

  constructor(clock: Clock, { untilStalled }: { untilStalled: boolean }) {
    this.#clock = clock;
    this.#untilStalled = untilStalled;
    this.end = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** What there is now. */
  update(expected: readonly Expected[]): void {
    if (expected.every(isReady)) this.#finish('Ready');
    if (!this.#untilStalled || !isStuck(expected)) {
      this.close();
      return;
    }
    this.#settling ??= this.#clock.setTimer(SETTLE_MS, () => this.#finish('Stalled'));
  }

  close(): void {
    this.#settling?.cancel();
    this.#settling = undefined;
  }
}

/** The lines that say what is not Ready, why, and what a person does about it. */
export function reasonsOf(expected: readonly Expected[]): string[] {
  return expected
    .filter((one) => !isReady(one))
    .flatMap(({ kind, name, row }) => {
      if (row === undefined) return [`${kind}/${name}: not there`];
      if (row.reason === '') return [`${kind}/${name}: not looked at yet`];
      const next = nextStepOf(row.reason);
      const line = `${kind}/${name}: ${row.reason}: ${row.message}`;
      return next === undefined ? [line] : [line, `  ${next}`];
    });
}

/** The outcome for programs. */
export function outcomeObject(
  outcome: Outcome,
  expected: readonly Expected[],
  facts: { namespace: string; ms: number; onlineMs: number | undefined },
): object {
  return {
    outcome,
    namespace: facts.namespace,
    seconds: inSeconds(facts.ms),
    ...(facts.onlineMs === undefined ? {} : { firstInstanceOnlineSeconds: inSeconds(facts.onlineMs) }),
    resources: expected.map(({ kind, name, row }) => {
      const next = row === undefined || row.ready === 'True' ? undefined : nextStepOf(row.reason);
      return {
        kind,
        name,
        ready: row?.ready ?? 'Unknown',
        stalled: row?.stalled ?? false,
        reason: row?.reason ?? '',
        message: row?.message ?? '',
        ...(next === undefined ? {} : { nextStep: next }),
      };
    }),
  };
}

function isReady({ row }: Expected): boolean {
  return row?.ready === 'True';
}

/** One cannot go on, and no other is under way. */
function isStuck(expected: readonly Expected[]): boolean {
  return (
    expected.some(({ row }) => row?.stalled === true) &&
    expected.every(({ row }) => row !== undefined && (row.ready === 'True' || row.stalled || waits(row)))
  );
}

function waits({ reason }: Row): boolean {
  return WAITS.has(reason);
}

function nextStepOf(reason: string): string | undefined {
  return Object.hasOwn(REASONS, reason) ? factsOf(reason as Reason).whatToDo : undefined;
}

function inSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
