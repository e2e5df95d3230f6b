import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { encodeSpans, OtlpTracer } from './otlp-tracer.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code: number; message: string };
}

function setup(): { clock: VirtualClock; tracer: OtlpTracer; spans: Span[] } {
  const clock = new VirtualClock();
  const spans: Span[] = [];
  let id = 0;
  const tracer = new OtlpTracer({
    clock,
    add: (span) => void spans.push(span as Span),
    randomHex: (bytes) => (++id).toString(16).padStart(bytes * 2, '0'),
  });
  return { clock, tracer, spans };
}

const call = { name: 'GET /services/boxes/{box_id}', attributes: { 'boxwright.outcome': 'ok' }, ms: 40 };

/** Milliseconds. */
const took = (span: Span | undefined): number =>
  Number(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0)) / 1e6;

describe('traces', () => {
  it('show a pass with its calls inside, each with its own time', async () => {
    const { clock, tracer, spans } = setup();
    const pass = tracer.within('reconcile Box', { 'boxwright.name': 'web' }, async () => {
      await clock.sleep(40);
      tracer.note(call);
      await clock.sleep(60);
    });
    await clock.advance(100);
    await pass;
    const [outer, inner] = spans;
    expect(outer).toMatchObject({ name: 'reconcile Box' });
    expect(outer?.parentSpanId).toBeUndefined();
    expect(inner).toMatchObject({ name: call.name, traceId: outer?.traceId, parentSpanId: outer?.spanId });
    expect([took(outer), took(inner)]).toEqual([100, 40]);
    expect(inner?.startTimeUnixNano).toBe(outer?.startTimeUnixNano);
  });

  it('keep passes that run at the same time apart', async () => {
    const { clock, tracer, spans } = setup();
    const passes = ['a', 'b'].map((name, at) =>
      tracer.within(name, {}, async () => {
        await clock.sleep(10 + at);
        tracer.note({ ...call, name: `call of ${name}` });
      }),
    );
    await clock.advance(20);
    await Promise.all(passes);
    for (const name of ['a', 'b']) {
      const pass = spans.find((span) => span.name === name);
      const inside = spans.find((span) => span.name === `call of ${name}`);
      expect(inside?.parentSpanId).toBe(pass?.spanId);
    }
  });

  it('leave out passes that called nothing, but not those that failed, of which they tell no words', async () => {
    const { tracer, spans } = setup();
    await tracer.within('idle', {}, () => Promise.resolve());
    const failed = tracer.within('failed', {}, () => Promise.reject(new TypeError('with a secret word')));
    await expect(failed).rejects.toThrow('secret word');
    tracer.note(call);
    expect(spans.map(({ name, status }) => [name, status?.message])).toEqual([['failed', 'TypeError']]);
    expect(JSON.stringify(spans)).not.toContain('secret word');
  });

  it('hold no more than so many calls of one pass', async () => {
    const { tracer, spans } = setup();
    await tracer.within('endless', {}, () => {
      for (let n = 0; n < 5_000; n++) tracer.note(call);
      return Promise.resolve();
    });
    expect(spans).toHaveLength(1 + 2_048);
  });

  it('are sent as spans of this process', () => {
    expect(JSON.parse(encodeSpans({ 'service.name': 'boxwright' }, [{ name: 'pass' }]))).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'boxwright' } }] },
          scopeSpans: [{ scope: { name: 'boxwright' }, spans: [{ name: 'pass' }] }],
        },
      ],
    });
  });
});
