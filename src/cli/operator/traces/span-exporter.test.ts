import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../base/logger.ts';
import { settle, VirtualClock } from '../../../base/virtual-clock.ts';
import { SpanExporter, type Delivery, type DropReason } from './span-exporter.ts';

const taken: Delivery = { kind: 'taken' };
const refused: Delivery = { kind: 'refused', why: 'answered 400' };

interface World {
  clock: VirtualClock;
  exporter: SpanExporter;
  /** The sizes of the bodies that were sent. */
  sent: number[];
  dropped: Partial<Record<DropReason, number>>;
  lines: { fields: object; message: string }[];
}

/** A collector that answers as told. */
function setup(answer: (signal: AbortSignal) => Promise<Delivery>): World {
  const clock = new VirtualClock();
  const sent: number[] = [];
  const dropped: World['dropped'] = {};
  const lines: World['lines'] = [];
  const note = (fields: object, message: string): void => void lines.push({ fields, message });
  const exporter = new SpanExporter({
    clock,
    random: () => 0,
    log: { ...silentLogger, warn: note, info: note },
    encode: (spans) => String(spans.length),
    send: (body, signal) => {
      sent.push(Number(body));
      return answer(signal);
    },
    onDrop: (spans, reason) => (dropped[reason] = (dropped[reason] ?? 0) + spans),
  });
  return { clock, exporter, sent, dropped, lines };
}

function add(exporter: SpanExporter, spans: number): void {
  for (let n = 0; n < spans; n++) exporter.add({});
}

describe('spans on their way to a collector', () => {
  it('are sent together after a few seconds, or as soon as there are many', async () => {
    const { clock, exporter, sent } = setup(() => Promise.resolve(taken));
    add(exporter, 3);
    await clock.advance(4_999);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(sent).toEqual([3]);
    add(exporter, 600);
    await settle();
    expect(sent).toEqual([3, 512, 88]);
  });

  it('wait in a bounded number while a body is under way, one body at a time; the others are dropped', async () => {
    const answers: ((delivery: Delivery) => void)[] = [];
    const { clock, exporter, sent, dropped } = setup(() => new Promise((resolve) => answers.push(resolve)));
    add(exporter, 10_000);
    await clock.advance(60_000);
    expect(sent).toEqual([512]);
    expect(dropped).toEqual({ full: 10_000 - 512 - 2_048 });
    for (let n = 0; n < 5; n++) {
      answers[n]?.(taken);
      await settle();
    }
    expect(sent).toEqual([512, 512, 512, 512, 512]);
  });

  it('are sent again as often and as late as a busy collector asks, and then taken', async () => {
    const answers: Delivery[] = [
      { kind: 'busy', why: 'answered 429', afterMs: 30_000 },
      { kind: 'busy', why: 'answered 503' },
      taken,
    ];
    const { clock, exporter, sent, dropped, lines } = setup(() =>
      Promise.resolve(answers.shift() ?? refused),
    );
    add(exporter, 1);
    await clock.advance(5_000);
    await clock.advance(29_999);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect(sent).toHaveLength(2);
    await clock.advance(2_000);
    expect(sent).toEqual([1, 1, 1]);
    expect(dropped).toEqual({});
    expect(lines.map(({ message }) => message)).toEqual(['traces wait for a collector that is busy']);
  });

  it('are given up after some tries, however long a collector asks to wait', async () => {
    const busy: Delivery = { kind: 'busy', why: 'answered 429', afterMs: 1e9 };
    const { clock, exporter, sent, dropped } = setup(() => Promise.resolve(busy));
    add(exporter, 1);
    await clock.advance(5_000 + 4 * 30_000);
    expect(sent).toHaveLength(5);
    expect(dropped).toEqual({ refused: 1 });
  });

  it('are dropped at once where the collector refuses them or cannot be reached, which is said once', async () => {
    const state: { answer: () => Promise<Delivery> } = { answer: () => Promise.resolve(refused) };
    const { clock, exporter, sent, dropped, lines } = setup(() => state.answer());
    add(exporter, 3_000);
    await clock.advance(5_000);
    state.answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
    add(exporter, 7);
    await clock.advance(5_000);
    // Not even one of them twice.
    expect(sent.reduce((sum, spans) => sum + spans, 0)).toBe(512 + 2_048 + 7);
    expect(dropped).toEqual({ full: 3_000 - 512 - 2_048, refused: 512 + 2_048, unreachable: 7 });
    expect(lines).toEqual([
      { fields: { why: 'answered 400' }, message: 'traces are not delivered, they are dropped' },
    ]);
    state.answer = () => Promise.resolve(taken);
    add(exporter, 1);
    await clock.advance(5_000);
    expect(lines.at(-1)?.message).toBe('traces are delivered again');
  });
});

describe('at the end', () => {
  it('what is left is sent', async () => {
    const { exporter, sent } = setup(() => Promise.resolve(taken));
    add(exporter, 20);
    await exporter.close();
    expect(sent).toEqual([20]);
  });

  it('one failure is enough, however many wait', async () => {
    const failures: ((error: Error) => void)[] = [];
    const { exporter, sent, dropped } = setup(() => new Promise((_, reject) => failures.push(reject)));
    add(exporter, 2_000);
    const closed = exporter.close();
    failures[0]?.(new Error('away'));
    await closed;
    expect(sent).toEqual([512]);
    expect(dropped).toEqual({ ended: 2_000 });
  });

  it('nothing waits for a collector that asked for patience', async () => {
    const { clock, exporter, sent } = setup(() =>
      Promise.resolve({ kind: 'busy', why: 'answered 503', afterMs: 60_000 }),
    );
    add(exporter, 600);
    await settle();
    await exporter.close();
    expect(sent).toEqual([512]);
    expect(clock.monotonic()).toBe(new VirtualClock().monotonic());
  });

  it('a collector that is slow has five seconds for all of it', async () => {
    const { clock, exporter, dropped } = setup(
      (signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    add(exporter, 5);
    const closed = exporter.close();
    await clock.advance(5_000);
    await closed;
    expect(dropped).toEqual({ ended: 5 });
  });
});
