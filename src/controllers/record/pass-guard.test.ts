import { Priority, type Lane } from '../../base/priority.ts';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../base/masking/known-secrets.ts';
import { silentLogger } from '../../base/logger.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { KubeApiError, type EventInput, type ReconcileContext } from '../../kube/index.ts';
import { Attempts } from './attempts.ts';
import { PassGuard } from './pass-guard.ts';
import type { AnyOfOurs } from './status/writer.ts';
import type { StatusWish } from './status/next-status.ts';

const TYPE = { group: 'boxwright.dev', version: 'v1alpha1', plural: 'boxes', kind: 'Box', namespaced: true };
const MINUTE = 60_000;
const resource = (generation = 1): AnyOfOurs =>
  ({
    metadata: { name: 'web', namespace: 'shop', uid: 'u', generation, resourceVersion: '1' },
    spec: {},
    status: { observedGeneration: 1 },
  }) as unknown as AnyOfOurs;
const answered = (
  status: number,
  path = '/apis/boxwright.dev/v1alpha1/namespaces/shop/boxes/web',
  message = 'the words of the server',
): KubeApiError =>
  new KubeApiError(
    { status, reason: 'R', message, causes: [], retryAfterMs: undefined },
    { method: 'PATCH', path },
  );

const run = (lane: Lane = 'normal', failures = 0): ReconcileContext => ({
  signal: new AbortController().signal,
  priority: new Priority(lane),
  failures,
});
const answers = (status: number) => (): Promise<never> => Promise.reject(answered(status));

function setUp(write: () => Promise<undefined> = () => Promise.resolve(undefined)) {
  const clock = new VirtualClock();
  const attempts = new Attempts(clock, () => 0);
  const said: string[] = [];
  const events: EventInput[] = [];
  const guard = new PassGuard<AnyOfOurs>(
    { log: silentLogger, recorder: { event: (input) => events.push(input) }, secrets: new KnownSecrets() },
    TYPE,
    {
      write: (_seen, { verdict }: StatusWish) => {
        said.push(`${verdict.reason}: ${verdict.message}`);
        return write();
      },
    },
  );
  return { clock, attempts, said, events, guard };
}

describe('a pass that throws', () => {
  it('says so without the text of the error, and is made again slowly or on a change', async () => {
    const { attempts, said, guard, clock } = setUp();
    let passes = 0;
    const pass = (): Promise<never> => {
      passes += 1;
      return Promise.reject(new RangeError('Invalid value hunter2'));
    };
    const { requeueAfterMs } = await guard.run(resource(), attempts, run(), pass);
    expect(requeueAfterMs).toBe(10 * MINUTE);
    expect(said).toEqual([expect.stringMatching(/^InternalError: .*RangeError/)]);
    expect(said[0]).not.toContain('hunter2');
    await guard.run(resource(), attempts, run(), pass);
    expect(passes).toBe(1);
    await guard.run(resource(), attempts, run('new'), pass);
    await guard.run(resource(2), attempts, run(), pass);
    expect(passes).toBe(3);
    await clock.advance(30 * MINUTE);
    expect(await guard.run(resource(), attempts, run(), () => Promise.resolve({}))).toEqual({});
    await guard.run(resource(), attempts, run(), pass);
    expect(passes).toBe(4);
  });

  it('because it was ended from outside says nothing', async () => {
    const { attempts, said, guard } = setUp();
    const ended = { ...run(), signal: AbortSignal.abort() };
    await expect(
      guard.run(resource(), attempts, ended, () => Promise.reject(new Error('ended'))),
    ).rejects.toThrow('ended');
    expect(said).toEqual([]);
  });

  it('begins anew at once after a conflict', async () => {
    const { attempts, said, guard } = setUp();
    const result = await guard.run(resource(), attempts, run('new'), () => Promise.reject(answered(409)));
    expect(result).toEqual({ requeueAfterMs: 200, lane: 'kept' });
    expect(said).toEqual([]);
  });
});

describe('a write that the API server answers with', () => {
  it('404 for the resource itself is done', async () => {
    const { attempts, said, guard } = setUp();
    const path = '/apis/boxwright.dev/v1alpha1/namespaces/shop/boxes/web/status';
    const { requeueAfterMs = 0 } = await guard.run(resource(), attempts, run(), () =>
      Promise.reject(answered(404, path)),
    );
    expect(requeueAfterMs).toBeGreaterThan(0);
    expect(said).toEqual([]);
  });

  for (const status of [400, 403, 405, 413, 415, 422]) {
    it(`${status} is quoted and tried slowly`, async () => {
      const { attempts, said, guard } = setUp();
      const result = await guard.run(resource(), attempts, run(), () => Promise.reject(answered(status)));
      expect(result.requeueAfterMs).toBe(10 * MINUTE);
      expect(said).toEqual([expect.stringMatching(/^RefusedByCluster: .*the words of the server/)]);
    });
  }

  it('a missing right is tried again soon at first, since nobody tells when it is granted', async () => {
    const { attempts, said, guard } = setUp();
    // The names say "policy" and "quota": the sentence is what counts.
    const message =
      'policyboxes.boxwright.dev "quota-policy" is forbidden: User "x" cannot patch resource "policyboxes"';
    const result = await guard.run(resource(), attempts, run(), () =>
      Promise.reject(answered(403, undefined, message)),
    );
    expect(result.requeueAfterMs).toBe(1_000);
    expect(said).toEqual([expect.stringContaining('Grant the operator the rights of its chart')]);
  });

  for (const status of [401, 429, 500, 503]) {
    it(`${status} comes back by the queue, and is told when it lasts`, async () => {
      const { attempts, said, guard } = setUp();
      const pass = answers(status);
      await expect(guard.run(resource(), attempts, run('normal', 0), pass)).rejects.toThrow('the words');
      expect(said).toEqual([]);
      await expect(guard.run(resource(), attempts, run('normal', 2), pass)).rejects.toThrow('the words');
      expect(said).toHaveLength(1);
    });
  }

  it('a refusal of status too is told by an event', async () => {
    const { attempts, events, guard } = setUp(() => Promise.reject(answered(403)));
    await guard.run(resource(), attempts, run(), () => Promise.reject(answered(403)));
    expect(events).toEqual([expect.objectContaining({ type: 'Warning', reason: 'RefusedByCluster' })]);
  });
});
