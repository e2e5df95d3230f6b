import { afterEach, describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import {
  answer,
  listAnswer,
  refusal,
  ScriptedPort,
  ScriptedWatch,
} from '../../../test/support/scripted-port.ts';
import { widget, WIDGETS, type Widget } from '../../../test/support/widgets.ts';
import { KubeAnswerTooLargeError, KubeTransportError } from '../port.ts';
import { Reflector, type ReflectorNotice, type ReflectorSink } from './reflector.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function make(prepare: (port: ScriptedPort) => void = () => undefined) {
  const clock = new VirtualClock();
  const port = new ScriptedPort();
  port.onRequest = () => listAnswer('10', [widget('a', '5'), widget('b', '7')]);
  prepare(port);
  const seen: string[] = [];
  const sink: ReflectorSink<Widget> = {
    listBegins: () => seen.push('list'),
    prepare: (object) => object,
    replace: (objects, version) => {
      seen.push(`replace ${objects.map((o) => o.metadata.name).join()} @${version}`);
      return Promise.resolve();
    },
    observe: (type, object) =>
      seen.push(`${type} ${object.metadata.name} @${object.metadata.resourceVersion}`),
    progress: (version) => seen.push(`progress ${version}`),
  };
  const notices: ReflectorNotice[] = [];
  const controller = new AbortController();
  const reflector = new Reflector<Widget>({
    port,
    type: WIDGETS,
    clock,
    random: () => 0.5,
    sink,
    onNotice: (notice) => notices.push(notice),
  });
  const running = reflector.run(controller.signal);
  stops.push(async () => {
    controller.abort(new Error('test over'));
    await settle();
    await running;
  });
  return { clock, port, seen, notices, reflector, controller, running };
}

describe('Reflector', () => {
  it('lists in pages of 500 and watches from the version of the list, with bookmarks', async () => {
    const { port, seen } = make((p) => {
      p.onRequest = (request) =>
        request.query?.['continue'] === undefined
          ? listAnswer('10', [widget('a', '5')], 'more')
          : listAnswer('10', [widget('b', '7')]);
    });
    await settle();
    expect(port.requests.map((r) => r.query)).toMatchObject([
      { limit: 500 },
      { limit: 500, continue: 'more' },
    ]);
    expect(port.requests[0]?.query?.['resourceVersion']).toBeUndefined();
    expect(seen).toEqual(['list', 'replace a,b @10']);
    expect(port.watchRequests[0]?.query).toMatchObject({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: '10',
      timeoutSeconds: 360,
    });
  });

  it('resumes at once where a watch ended, bookmarks counted', async () => {
    const { port, seen } = make();
    await settle();
    port.current.push('MODIFIED', widget('a', '12'));
    port.current.bookmark('20');
    port.current.end();
    await settle();
    expect(seen.slice(2)).toEqual(['MODIFIED a @12', 'progress 12', 'progress 20']);
    expect(port.watchRequests.map((r) => r.query?.['resourceVersion'])).toEqual(['10', '20']);
    expect(port.requests).toHaveLength(1);
  });

  it.each([
    ['in the answer', (): ScriptedWatch => new ScriptedWatch(refusal(410, 'Expired'))],
    [
      'in the stream',
      (): ScriptedWatch => {
        const watch = new ScriptedWatch();
        watch.push('ERROR', refusal(410, 'Expired').body);
        return watch;
      },
    ],
  ])('lists anew after 410 %s, waiting longer each time it helps nothing', async (_where, expired) => {
    const { clock, port } = make((p) => {
      p.onWatch = expired;
    });
    await clock.advance(1_000);
    const early = port.requests.length;
    expect(early).toBeGreaterThanOrEqual(2);
    await clock.advance(300_000);
    const later = port.requests.length;
    await clock.advance(60_000);
    expect(port.requests.length - later).toBeLessThanOrEqual(5);
    port.onWatch = () => new ScriptedWatch();
    await clock.advance(30_000);
    port.current.push('ADDED', widget('c', '30'));
    await settle();
    port.current.end();
    await settle();
    expect(port.watchRequests.at(-1)?.query?.['resourceVersion']).toBe('30');
  });

  it('goes on after every kind of failure of list and watch', async () => {
    const failures = [
      () => Promise.reject(new KubeTransportError('reset', { maybeSent: true })),
      () => refusal(401, 'Unauthorized'),
      () => refusal(403, 'Forbidden'),
      () => refusal(404, 'NotFound'),
      () => refusal(429, 'TooManyRequests', { headers: { 'retry-after': '1' } }),
      () => refusal(500, 'InternalError'),
      () => refusal(503, 'ServiceUnavailable'),
      () => answer(200, '<html>login</html>'),
      () => Promise.reject(new Error('a mistake in the port')),
    ];
    let tries = 0;
    const { clock, port, seen, notices } = make((p) => {
      p.onRequest = () => failures[tries++]?.() ?? listAnswer('10', []);
      let watchTries = 0;
      p.onWatch = async () => {
        const failure = await failures[watchTries++]?.();
        return failure === undefined ? new ScriptedWatch() : new ScriptedWatch(failure);
      };
    });
    await clock.advance(600_000);
    expect(seen).toContain('replace  @10');
    port.current.push('ADDED', widget('late', '11'));
    await settle();
    expect(seen).toContain('ADDED late @11');
    expect(notices.filter((n) => n.kind === 'error' && n.during === 'list')).toHaveLength(failures.length);
  });

  it('waits 200 ms to 30 s between failures, with jitter, and as long as Retry-After says', async () => {
    const { clock, port, notices } = make((p) => {
      p.onRequest = () => refusal(503, 'ServiceUnavailable');
    });
    await clock.advance(200_000);
    const delays = notices.map((n) => (n.kind === 'error' ? n.delayMs : 0));
    expect(delays.slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
    expect(Math.max(...delays)).toBe(37_500);
    notices.length = 0;
    port.onRequest = () => refusal(429, 'TooManyRequests', { retryAfterSeconds: 40 });
    await clock.advance(70_000);
    expect(notices[0]).toMatchObject({ delayMs: 50_000 });
  });

  it('opens a new watch when the connection has been silent for three minutes', async () => {
    const { clock, port, notices } = make();
    await settle();
    const first = port.current;
    await clock.advance(170_000);
    first.bookmark('11');
    await clock.advance(179_000);
    expect(port.watches).toHaveLength(1);
    await clock.advance(2_000);
    expect(port.watches).toHaveLength(2);
    expect(first.closed).toBe(true);
    expect(notices.at(-1)).toMatchObject({ kind: 'watch-ended', reason: 'idle' });
    expect(port.watchRequests.at(-1)?.query?.['resourceVersion']).toBe('11');
  });

  it('does not wait for ever for a watch that never opens', async () => {
    const { clock, port } = make((p) => {
      p.onWatch = () => new Promise<ScriptedWatch>(() => undefined);
    });
    await clock.advance(181_000);
    expect(port.watchRequests).toHaveLength(2);
  });

  it('ends a watch that outlives its time by 30 s although it still speaks', async () => {
    const { clock, port, notices } = make();
    await settle();
    for (let i = 0; i < 40 && port.watches.length === 1; i++) {
      port.current.bookmark(String(100 + i));
      await clock.advance(10_000);
    }
    expect(notices.at(-1)).toMatchObject({ kind: 'watch-ended', reason: 'guard', durationMs: 390_000 });
  });

  it('does not spin when watches end as soon as they begin', async () => {
    const { clock, port } = make((p) => {
      p.onWatch = () => {
        const watch = new ScriptedWatch();
        watch.end();
        return watch;
      };
    });
    await clock.advance(60_000);
    expect(port.watchRequests.length).toBeLessThan(12);
  });

  it('lists anew when the server keeps refusing the version, as after a restored store', async () => {
    const { clock, port, seen } = make((p) => {
      p.onWatch = () => new ScriptedWatch(refusal(504, 'Timeout', { message: 'Too large resource version' }));
    });
    await settle();
    port.onRequest = () => listAnswer('3', [widget('a', '2')]);
    await clock.advance(10_000);
    expect(seen).toContain('replace a @3');
  });

  it('takes larger pages when the list is longer than the server remembers a version', async () => {
    const { clock, port } = make((p) => {
      p.onRequest = (request) => {
        if (request.query?.['continue'] !== undefined) return refusal(410, 'Expired');
        return listAnswer(
          '10',
          [widget('a', '5')],
          Number(request.query?.['limit']) < 2_000 ? 'more' : undefined,
        );
      };
    });
    await clock.advance(1_000);
    expect(port.requests.map((r) => r.query?.['limit'])).toEqual([500, 500, 2_000]);
    expect(port.watches).toHaveLength(1);
  });

  it('takes smaller pages when an answer is too large', async () => {
    const { clock, port } = make((p) => {
      p.onRequest = (request) => {
        if (Number(request.query?.['limit']) > 200) throw new KubeAnswerTooLargeError('too large');
        return listAnswer('10', []);
      };
    });
    await clock.advance(1_000);
    expect(port.requests.map((r) => r.query?.['limit'])).toEqual([500, 125]);
  });

  it('tells when the API server last gave a sign of life', async () => {
    const { clock, port, reflector } = make();
    await settle();
    await clock.advance(50_000);
    port.current.bookmark('11');
    await settle();
    await clock.advance(100_000);
    expect(reflector.lastActivity).toBe(50_000);
  });

  it('stops when told to, in the middle of a wait or a watch', async () => {
    const { controller, running, port } = make();
    await settle();
    controller.abort(new Error('stop'));
    await running;
    expect(port.current.closed).toBe(true);
  });
});
