import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { Metrics } from './metrics.ts';
import { KubeTransportError, type KubeAnswer, type KubePort, type KubeRequest } from '../port.ts';
import { EventRecorder, type EventInput, type EventRecorderOptions } from './recorder.ts';

interface SentEvent {
  metadata: { name: string; namespace: string };
  note: string;
  series?: { count: number; lastObservedTime: string };
}

function make(options: Partial<EventRecorderOptions> = {}): {
  clock: VirtualClock;
  recorder: EventRecorder;
  calls: KubeRequest[];
  /** What the API server does with each call; the default takes it. */
  server: { answer: (request: KubeRequest) => number | Promise<KubeAnswer> };
  metrics: Metrics;
  stop: AbortController;
  ended: Promise<void>;
} {
  const clock = new VirtualClock();
  const calls: KubeRequest[] = [];
  const server = { answer: (_request: KubeRequest): number | Promise<KubeAnswer> => 201 };
  const port: KubePort = {
    request(request) {
      calls.push(request);
      const answer = server.answer(request);
      return typeof answer === 'number'
        ? Promise.resolve({ status: answer, headers: {}, body: request.body })
        : answer;
    },
    watch: () => Promise.reject(new Error('a recorder watches nothing')),
  };
  const metrics = new Metrics();
  const recorder = new EventRecorder({
    port,
    clock,
    random: () => 0,
    reportingController: 'example.com/operator',
    reportingInstance: 'pod-1',
    metrics,
    ...options,
  });
  const stop = new AbortController();
  return { clock, recorder, calls, server, metrics, stop, ended: recorder.run(stop.signal) };
}

function about(name: string, note = 'made it', more: Partial<EventInput> = {}): EventInput {
  return {
    regarding: { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'shop', name, uid: `uid-${name}` },
    type: 'Normal',
    reason: 'Created',
    action: 'Create',
    note,
    ...more,
  };
}

const created = (calls: KubeRequest[]): SentEvent[] =>
  calls.filter(({ method }) => method === 'POST').map(({ body }) => body as SentEvent);

describe('EventRecorder', () => {
  it('writes an event of events.k8s.io/v1', async () => {
    const { calls, recorder } = make();
    recorder.event(about('a'));
    await settle();
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/shop/events' });
    expect(calls[0]?.body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^a\.[a-z2-7]{16}$/) as string, namespace: 'shop' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/operator',
      reportingInstance: 'pod-1',
      type: 'Normal',
      reason: 'Created',
      action: 'Create',
      note: 'made it',
      regarding: about('a').regarding,
    });
  });

  it('puts events of cluster-scoped objects into namespace default', async () => {
    const { calls, recorder } = make();
    const { namespace: _none, ...regarding } = about('a').regarding;
    recorder.event(about('a', 'x', { regarding }));
    await settle();
    expect(calls[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/default/events');
  });

  it('makes equal events one series: the second is written at once, more at most every 30 s', async () => {
    const { calls, clock, recorder } = make();
    recorder.event(about('a'));
    await clock.advance(1_000);
    recorder.event(about('a'));
    await clock.advance(1_000);
    for (let i = 0; i < 50; i++) recorder.event(about('a'));
    await clock.advance(28_000);
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    await clock.advance(5_000);
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH']);
    expect(calls[2]).toMatchObject({
      path: `/apis/events.k8s.io/v1/namespaces/shop/events/${created(calls)[0]?.metadata.name}`,
      contentType: 'application/merge-patch+json',
      body: { series: { count: 52, lastObservedTime: '2026-01-01T00:00:02.000000Z' } },
    });
  });

  it('starts a new event when an equal one comes after a long pause, or when anything differs', async () => {
    const { calls, clock, recorder } = make();
    recorder.event(about('a'));
    recorder.event(about('a', 'other note'));
    recorder.event(about('a', 'made it', { reason: 'Other' }));
    recorder.event(about('b'));
    await clock.advance(360_000);
    recorder.event(about('a'));
    await settle();
    expect(new Set(created(calls).map(({ metadata }) => metadata.name)).size).toBe(5);
  });

  it('goes on in a new event when the API server has forgotten the old one', async () => {
    const { calls, clock, recorder, server } = make();
    recorder.event(about('a'));
    await clock.advance(40_000);
    server.answer = ({ method }) => (method === 'PATCH' ? 404 : 201);
    recorder.event(about('a'));
    await clock.advance(1_000);
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(created(calls)[1]?.series?.count).toBe(2);
  });

  it('cuts a note to 1 KiB without breaking a character', async () => {
    const { calls, recorder } = make();
    recorder.event(about('a', 'ü'.repeat(2_000)));
    recorder.event(about('b', `x${'💡'.repeat(2_000)}`));
    await settle();
    for (const { note } of created(calls)) {
      expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
      expect(Buffer.byteLength(note)).toBeGreaterThan(1_015);
      expect(note).toMatch(/^x?(ü|💡)+…$/u);
    }
  });

  it('keeps event names valid for long object names', async () => {
    const { calls, recorder } = make();
    recorder.event(about(`${'a'.repeat(235)}.${'b'.repeat(17)}`));
    await settle();
    expect(created(calls)[0]?.metadata.name).toMatch(/^a{235}\.[a-z2-7]{16}$/);
  });

  it('bounds the events of one object without touching those of others', async () => {
    const { calls, clock, recorder, metrics } = make({ perObject: { perSecond: 1 / 30, burst: 3 } });
    for (let i = 0; i < 10; i++) recorder.event(about('noisy', `note ${i}`));
    recorder.event(about('quiet'));
    await clock.advance(1_000);
    expect(created(calls).map(({ note }) => note)).toEqual(['note 0', 'note 1', 'note 2', 'made it']);
    expect(await metrics.render()).toContain('event_recorder_events_total{outcome="dropped"} 7');
    await clock.advance(30_000);
    recorder.event(about('noisy', 'later'));
    await settle();
    expect(created(calls)).toHaveLength(5);
  });

  it('keeps room for the events of another namespace, however many one has', async () => {
    const { calls, clock, recorder } = make();
    const { regarding, ...event } = about('first');
    for (let i = 0; i < 1_000; i++) recorder.event(about(`o${i}`));
    recorder.event({ ...event, regarding: { ...regarding, namespace: 'small' } });
    await clock.advance(1_000);
    expect(created(calls).filter(({ metadata }) => metadata.namespace === 'small')).toHaveLength(1);
    expect(created(calls)).toHaveLength(101);
  });

  it('returns at once and drops what is too much while the API server hangs', async () => {
    const { calls, clock, recorder, server, metrics } = make({ maxPending: 10 });
    server.answer = (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () =>
          reject(new KubeTransportError('hung', { maybeSent: true })),
        );
      });
    for (let i = 0; i < 100; i++) recorder.event(about(`o${i}`));
    await clock.advance(1_000);
    expect(calls.length).toBeLessThanOrEqual(2);
    expect(await metrics.render()).toContain('event_recorder_events_total{outcome="dropped"} 95');
  });

  it('tries an event again with the same name, so that a lost answer makes no second one', async () => {
    const { calls, clock, recorder, server } = make();
    let tries = 0;
    server.answer = () => {
      tries += 1;
      if (tries === 1) return Promise.reject(new KubeTransportError('reset', { maybeSent: true }));
      return 409;
    };
    recorder.event(about('a'));
    await clock.advance(10_000);
    const names = created(calls).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(1);
  });

  it('gives up on what the API server refuses, and after three tries on what it does not answer', async () => {
    const { calls, clock, recorder, server, metrics } = make();
    server.answer = ({ body }) => ((body as SentEvent).note === 'refused' ? 403 : 503);
    recorder.event(about('a', 'refused'));
    recorder.event(about('b', 'unanswered'));
    await clock.advance(60_000);
    expect(created(calls).map(({ note }) => note)).toEqual([
      'refused',
      'unanswered',
      'unanswered',
      'unanswered',
    ]);
    expect(await metrics.render()).toContain('event_recorder_events_total{outcome="failed"} 2');
  });

  it('sends what waits when it is told to stop, series included', async () => {
    const { calls, clock, ended, recorder, stop } = make();
    recorder.event(about('a'));
    await clock.advance(1_000);
    recorder.event(about('a'));
    await clock.advance(1_000);
    recorder.event(about('a'));
    recorder.event(about('b'));
    stop.abort();
    await clock.advance(1_000);
    await ended;
    expect(calls.filter(({ method }) => method === 'PATCH').at(-1)?.body).toMatchObject({
      series: { count: 3 },
    });
    expect(created(calls).map(({ metadata }) => metadata.name[0])).toEqual(['a', 'b']);
  });

  it('ends within its time when the API server hangs', async () => {
    const { clock, ended, recorder, server, stop } = make();
    server.answer = (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error));
      });
    recorder.event(about('a'));
    await settle();
    stop.abort();
    await clock.advance(5_100);
    await expect(ended).resolves.toBeUndefined();
  });
});
