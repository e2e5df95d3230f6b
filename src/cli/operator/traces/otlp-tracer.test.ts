import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger, type Logger } from '../../../base/logger.ts';
import { settle, VirtualClock } from '../../../base/virtual-clock.ts';
import { OtlpTracer, type SendTraces } from './otlp-tracer.ts';
import { sendTo } from './send.ts';

interface Sent {
  resourceSpans: {
    resource: { attributes: { key: string; value: object }[] };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

interface SentSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code: number; message: string };
}

function setup(send?: SendTraces, log: Logger = silentLogger) {
  const clock = new VirtualClock();
  const bodies: string[] = [];
  let id = 0;
  const tracer = new OtlpTracer({
    clock,
    log,
    send: send ?? ((body) => Promise.resolve(void bodies.push(body))),
    randomHex: (bytes) => (++id).toString(16).padStart(bytes * 2, '0'),
    resource: { 'service.name': 'boxwright' },
  });
  const spans = (): SentSpan[] =>
    bodies
      .flatMap((body) => (JSON.parse(body) as Sent).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return { clock, tracer, bodies, spans };
}

const call = { name: 'GET /services/boxes/{box_id}', attributes: { 'boxwright.outcome': 'ok' }, ms: 40 };

/** Milliseconds. */
const took = (span: SentSpan | undefined): number =>
  Number(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0)) / 1e6;

describe('traces', () => {
  it('show a pass with its calls inside, each with its own time', async () => {
    const { clock, tracer, spans, bodies } = setup();
    const pass = tracer.within('reconcile Box', { 'boxwright.name': 'web' }, async () => {
      await clock.sleep(40);
      tracer.note(call);
      await clock.sleep(60);
    });
    await clock.advance(100);
    await pass;
    expect(spans()).toEqual([]);
    await clock.advance(5_000);
    const [outer, inner] = spans();
    expect(outer).toMatchObject({ name: 'reconcile Box' });
    expect(outer?.parentSpanId).toBeUndefined();
    expect(inner).toMatchObject({ name: call.name, traceId: outer?.traceId, parentSpanId: outer?.spanId });
    expect([took(outer), took(inner)]).toEqual([100, 40]);
    expect(inner?.startTimeUnixNano).toBe(outer?.startTimeUnixNano);
    expect(bodies[0]).toContain('{"key":"service.name","value":{"stringValue":"boxwright"}}');
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
    await tracer.close();
    for (const name of ['a', 'b']) {
      const pass = spans().find((span) => span.name === name);
      const inside = spans().find((span) => span.name === `call of ${name}`);
      expect(inside?.parentSpanId).toBe(pass?.spanId);
    }
  });

  it('leave out passes that called nothing, but not those that failed, of which they tell no words', async () => {
    const { tracer, spans, bodies } = setup();
    await tracer.within('idle', {}, () => Promise.resolve());
    const failed = tracer.within('failed', {}, () => Promise.reject(new TypeError('with a secret word')));
    await expect(failed).rejects.toThrow('secret word');
    tracer.note(call);
    await tracer.close();
    expect(spans().map(({ name, status }) => [name, status?.message])).toEqual([['failed', 'TypeError']]);
    expect(bodies.join()).not.toContain('secret word');
  });

  it('are dropped while the collector is away, which is said once, and hold no memory meanwhile', async () => {
    const lines: string[] = [];
    const log = {
      ...silentLogger,
      warn: (_fields: object, message: string) => void lines.push(message),
      info: (_fields: object, message: string) => void lines.push(message),
    };
    const collector = { away: true };
    const { clock, tracer } = setup(
      () => (collector.away ? Promise.reject(new Error('away')) : Promise.resolve()),
      log,
    );
    const pass = (): Promise<void> =>
      tracer.within('pass', {}, () => {
        tracer.note(call);
        return Promise.resolve();
      });
    for (let n = 0; n < 3_000; n++) await pass();
    await clock.advance(5_000);
    expect(lines).toEqual(['traces are not delivered, they are dropped']);
    collector.away = false;
    await pass();
    await clock.advance(5_000);
    await settle();
    expect(lines.at(-1)).toBe('traces are delivered again');
  });

  it('are given up at the end after one failure, however many wait', async () => {
    const underWay: ((error: Error) => void)[] = [];
    const { tracer } = setup(() => new Promise((_resolve, reject) => underWay.push(reject)));
    for (let n = 0; n < 900; n++) {
      await tracer.within('pass', {}, () => {
        tracer.note(call);
        return Promise.resolve();
      });
    }
    const closed = tracer.close();
    expect(underWay).toHaveLength(1);
    underWay[0]?.(new Error('away'));
    await closed;
    expect(underWay).toHaveLength(1);
  });
});

describe('sending to a collector', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function collector(status: number, seen: string[]): Promise<URL> {
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      request.resume().on('end', () => response.writeHead(status).end('{}'));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/otlp/`);
  }

  it('posts JSON to its place below the endpoint', async () => {
    const seen: string[] = [];
    await sendTo(await collector(200, seen), 'test')('{}');
    expect(seen).toEqual(['POST /otlp/v1/traces application/json']);
  });

  it('says when it was not taken', async () => {
    await expect(sendTo(await collector(401, []), 'test')('{}')).rejects.toThrow('answered 401');
  });
});
