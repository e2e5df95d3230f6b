import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { LANES } from '../../base/priority.ts';
import { WorkQueue, type WorkQueueOptions } from './queue.ts';

function make(options: Partial<WorkQueueOptions> = {}): { clock: VirtualClock; queue: WorkQueue } {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue({ clock, random: () => 0, ...options }) };
}

/** Takes and finishes everything that is ready, in order. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const item = await queue.take();
    if (item === undefined) break;
    keys.push(item.key);
    queue.done(item.key);
  }
  return keys;
}

describe('WorkQueue', () => {
  it('hands a key out once however often it was added', async () => {
    const { queue } = make();
    queue.add('a');
    queue.add('b');
    queue.add('a');
    expect(await drain(queue)).toEqual(['a', 'b']);
  });

  it('does not hand out a key in work, and hands it out again when it was added meanwhile', async () => {
    const { queue } = make();
    queue.add('a');
    await queue.take();
    queue.add('a', 'periodic');
    queue.add('a', 'new');
    queue.add('b', 'new');
    expect(await queue.take()).toMatchObject({ key: 'b' });
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await queue.take()).toMatchObject({ key: 'a', priority: { lane: 'new' } });
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('goes on with what is begun, then begins with what people have made, and looks at the rest last', async () => {
    const { queue } = make();
    for (const key of ['p1', 'p2']) queue.add(key, 'periodic');
    for (const key of ['n1', 'n2']) queue.add(key, 'normal');
    for (const key of ['u1', 'u2']) queue.add(key, 'new');
    expect(await drain(queue)).toEqual(['n1', 'n2', 'u1', 'u2', 'p1', 'p2']);
  });

  it('promotes a waiting key and never demotes one', async () => {
    const { queue } = make();
    queue.add('n', 'normal');
    queue.add('p', 'periodic');
    queue.add('u', 'new');
    queue.add('p', 'new');
    queue.add('u', 'periodic');
    queue.add('n', 'new');
    expect(await drain(queue)).toEqual(['n', 'u', 'p']);
  });

  it('never puts what is begun in the line of what is not, and still knows that a person has changed it', async () => {
    const { clock, queue } = make();
    for (let i = 0; i < 500; i++) queue.add(`shop/${i}`, 'new');
    queue.add('shop/ends', 'normal');
    queue.add('shop/ends', 'new');
    const next = async (): Promise<unknown> => {
      const item = await queue.take();
      return item && { key: item.key, lane: item.priority.lane, byPerson: item.priority.byPerson };
    };
    expect(await next()).toEqual({ key: 'shop/ends', lane: 'normal', byPerson: true });
    queue.add('shop/499', 'new');
    queue.addAfter('shop/499', 1_000, 'normal');
    await clock.advance(1_000);
    expect(await next()).toEqual({ key: 'shop/499', lane: 'normal', byPerson: true });
  });

  it('takes only the first pass after a change for one by a person, unless it is an edit', async () => {
    const { queue } = make();
    for (const [lane, next] of [
      ['new', false],
      ['edit', true],
    ] as const) {
      queue.add('shop/a', lane);
      const first = await queue.take();
      expect(first?.priority.byPerson).toBe(true);
      queue.goOn('shop/a', 0, first?.priority.lane ?? 'periodic');
      queue.done('shop/a');
      expect((await queue.take())?.priority.byPerson).toBe(next);
      queue.done('shop/a');
    }
  });

  it('gives a periodic look its turn in a steady stream of users and normal keys', async () => {
    const { queue } = make();
    queue.add('look', 'periodic');
    const order: string[] = [];
    for (let i = 0; i < 25; i++) {
      queue.add(`u${i}`, 'new');
      queue.add(`n${i}`, 'normal');
      const item = await queue.take();
      order.push(item?.key ?? '');
      queue.done(item?.key ?? '');
    }
    expect(order).toContain('look');
    expect(order.filter((key) => key.startsWith('n')).length).toBeGreaterThanOrEqual(3);
  });

  it('hands out an edit first, however much waits, and raises the work under way that it concerns', async () => {
    const { queue } = make();
    for (let i = 0; i < 500; i++) queue.add(`shop/${i}`, 'new');
    queue.add('shop/edited', 'periodic');
    queue.add('shop/edited', 'edit');
    expect(await queue.take()).toMatchObject({ key: 'shop/edited', priority: { lane: 'edit' } });
    const look = make().queue;
    look.add('shop/a', 'periodic');
    const item = await look.take();
    look.add('shop/a', 'edit');
    expect(item?.priority.lane).toBe('edit');
  });

  it('keeps workers free for each lane: thousands of creations leave room for an edit', async () => {
    const { queue } = make({ limits: { lane: 2, all: 8 } });
    for (let i = 0; i < 500; i++) queue.add(`shop/${i}`, 'new');
    const taken = [await queue.take(), await queue.take()];
    const next = queue.take();
    queue.add('shop/edited', 'edit');
    expect(await next).toMatchObject({ key: 'shop/edited' });
    const after = queue.take();
    queue.done(taken[0]?.key ?? '');
    expect(await after).toMatchObject({ key: 'shop/2' });
  });

  it('gives another namespace a worker, however many passes of one hang in each lane', async () => {
    const { queue } = make({ limits: { lane: 2, all: 3 } });
    for (const lane of LANES) for (let i = 0; i < 9; i++) queue.add(`big/${lane}-${i}`, lane);
    for (let i = 0; i < 3; i++) expect((await queue.take())?.key).toMatch('big/');
    const next = [queue.take(), queue.take()];
    queue.add('small/a', 'periodic');
    expect(await next[0]).toMatchObject({ key: 'small/a' });
    queue.done('small/a');
    queue.add('small/b', 'new');
    expect(await next[1]).toMatchObject({ key: 'small/b' });
  });

  it('gives each namespace its turn', async () => {
    const { queue } = make();
    for (let i = 0; i < 3; i++) queue.add(`big/${i}`, 'new');
    queue.add('small/0', 'new');
    expect(await drain(queue)).toEqual(['big/0', 'small/0', 'big/1', 'big/2']);
  });

  it('lets work that goes on by itself fall back after a few times, until a person adds it again', async () => {
    const { queue } = make();
    const pass = async (): Promise<string | undefined> => {
      const lane = (await queue.take())?.priority.lane ?? 'periodic';
      queue.goOn('shop/loop', 0, lane);
      queue.done('shop/loop');
      return lane;
    };
    queue.add('shop/loop', 'new');
    const lanes: (string | undefined)[] = [];
    for (let i = 0; i < 6; i++) lanes.push(await pass());
    expect(lanes).toEqual(['new', 'normal', 'normal', 'periodic', 'periodic', 'periodic']);
    queue.add('shop/loop', 'new');
    expect(await pass()).toBe('new');
    expect(await pass()).toBe('normal');
  });

  it('lets work that goes on by itself without end wait ever longer, until a person adds it again', async () => {
    const { clock, queue } = make();
    const at: number[] = [];
    const pass = async (): Promise<void> => {
      await queue.take();
      at.push(clock.monotonic());
      queue.goOn('shop/loop', 0, 'normal');
      queue.done('shop/loop');
      await clock.advance(queue.dueIn('shop/loop') ?? 0);
    };
    queue.add('shop/loop');
    for (let i = 0; i < 45; i++) await pass();
    expect(at[30]).toBe(0);
    expect(at.slice(31, 35)).toEqual([200, 600, 1_400, 3_000]);
    expect(Number(at[44]) - Number(at[43])).toBe(300_000);
    queue.add('shop/loop', 'edit');
    await pass();
    await pass();
    expect(at.at(-1)).toBe(at.at(-2));
  });

  it('wakes a worker that waits', async () => {
    const { queue } = make();
    const first = queue.take();
    const second = queue.take();
    queue.add('a');
    queue.add('b');
    expect([(await first)?.key, (await second)?.key]).toEqual(['a', 'b']);
  });

  it('hands a delayed key out when it is due; of several delays the earliest counts', async () => {
    const { clock, queue } = make();
    queue.addAfter('a', 10_000);
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 60_000);
    await clock.advance(4_999);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(['a']);
    await clock.advance(120_000);
    expect(queue.depth).toBe(0);
  });

  it('keeps delays of different priorities apart until the key is handed out', async () => {
    const { clock, queue } = make();
    queue.addAfter('a', 5_000, 'periodic');
    queue.addAfter('a', 6_000, 'new');
    await clock.advance(6_000);
    expect(await queue.take()).toMatchObject({ key: 'a', priority: { lane: 'new' }, waitedMs: 1_000 });
  });

  it('takes a look in between for the delayed one, but keeps a delay asked for during the work', async () => {
    const { clock, queue } = make();
    queue.addAfter('a', 10_000);
    queue.add('a');
    await queue.take();
    queue.addAfter('a', 20_000);
    queue.done('a');
    await clock.advance(19_999);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('backs off per key and starts again after forget', () => {
    const { queue } = make({ backoff: { firstMs: 100, longestMs: 1_000 } });
    expect([queue.addRateLimited('a'), queue.addRateLimited('a'), queue.addRateLimited('b')]).toEqual([
      100, 200, 100,
    ]);
    queue.forget('a');
    expect(queue.addRateLimited('a')).toBe(100);
  });

  it('shuts down: waiting workers end, nothing more goes in, work in progress may finish', async () => {
    const { clock, queue } = make();
    queue.add('working');
    await queue.take();
    queue.addAfter('later', 1_000);
    const worker = queue.take();
    queue.shutDown();
    expect(await worker).toBeUndefined();
    queue.add('new');
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
    let idle = false;
    const whenIdle = queue.whenIdle().then(() => (idle = true));
    await clock.advance(0);
    expect(idle).toBe(false);
    queue.done('working');
    await whenIdle;
    expect(clock.untilNext()).toBeUndefined();
  });

  it('tells how long keys waited, how long work took, and what is unfinished', async () => {
    const seen: string[] = [];
    const { clock, queue } = make({
      observer: {
        added: () => seen.push('added'),
        depth: (priority, length) => seen.push(`${priority}=${length}`),
        waited: (ms) => seen.push(`waited ${ms}`),
        worked: (ms) => seen.push(`worked ${ms}`),
        retried: () => seen.push('retried'),
      },
    });
    queue.add('a', 'new');
    await clock.advance(30);
    await queue.take();
    await clock.advance(70);
    expect(queue.unfinished).toEqual({ totalMs: 70, longestMs: 70 });
    queue.done('a');
    expect(seen).toEqual(['added', 'new=1', 'new=0', 'waited 30', 'worked 70']);
  });

  it('loses no add and never works on a key twice at once, whatever the order of calls', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('add' as const),
        key: fc.constantFrom('a', 'b', 'c'),
        priority: fc.constantFrom(...LANES),
      }),
      fc.record({
        kind: fc.constant('later' as const),
        key: fc.constantFrom('a', 'b', 'c'),
        ms: fc.integer({ min: 0, max: 50 }),
      }),
      fc.record({ kind: fc.constant('take' as const) }),
      fc.record({ kind: fc.constant('done' as const) }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 40 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, queue } = make();
        const working = new Set<string>();
        const owed = new Set<string>();
        const take = async (): Promise<void> => {
          if (queue.depth === 0) return;
          const item = await queue.take();
          expect(working.has(item?.key ?? '')).toBe(false);
          working.add(item?.key ?? '');
          owed.delete(item?.key ?? '');
        };
        const done = (): void => {
          const [key] = working;
          if (key === undefined) return;
          working.delete(key);
          queue.done(key);
        };
        for (const one of steps) {
          if (one.kind === 'add') {
            queue.add(one.key, one.priority);
            owed.add(one.key);
          } else if (one.kind === 'later') {
            queue.addAfter(one.key, one.ms);
            owed.add(one.key);
          } else if (one.kind === 'take') await take();
          else if (one.kind === 'done') done();
          else await clock.advance(one.ms);
        }
        await clock.advance(1_000);
        for (let i = 0; i < 20; i++) {
          await take();
          done();
        }
        expect([...owed]).toEqual([]);
        expect(queue.depth).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
