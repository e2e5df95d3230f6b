import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../base/virtual-clock.ts';
import { MemoryBudget, unlimitedMemory, type MemoryShare } from '../base/memory-budget.ts';
import { noTurns } from '../base/turns.ts';
import type { InstanceRecord } from './models/instance.ts';
import { Priority } from '../base/priority.ts';
import type { Read } from './results.ts';
import { rejectionOf } from './scripted-port.ts';
import { createSharedReads } from './shared-reads.ts';
import type { SharedReads } from './shared-reads.ts';

interface Asked {
  family: string;
  workspaceId: string;
  priority: Priority;
  signal: AbortSignal;
  /** Lets the request go out. */
  start(at: number): void;
  answer(list: Read<readonly InstanceRecord[]>): void;
}

function setup(memory: MemoryShare = unlimitedMemory): {
  shared: SharedReads;
  asked: Asked[];
  clock: VirtualClock;
} {
  const asked: Asked[] = [];
  const clock = new VirtualClock();
  const shared = createSharedReads(
    (family, workspaceId, { priority, signal, onStart }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        asked.push({ family, workspaceId, priority, signal, start: onStart, answer: resolve });
      }),
    { stamp: () => clock.monotonic(), clock, memory, turns: noTurns },
  );
  return { shared, asked, clock };
}

function found(startedAt: number): Read<readonly InstanceRecord[]> {
  return { kind: 'found', record: [{ id: `i-${startedAt}` }], startedAt };
}

const take = async (world: ReturnType<typeof setup>, index: number, weight: number): Promise<void> => {
  const list = world.shared.list('instances', 'w');
  await settle();
  world.asked[index]?.start(world.clock.monotonic());
  world.asked[index]?.answer({ ...found(world.clock.monotonic()), weight } as Read<
    readonly InstanceRecord[]
  >);
  await list;
};

describe('the memory that shared lists take', () => {
  it('is given back after a while, when a newer one comes, and at the end', async () => {
    const budget = new MemoryBudget({ capacity: 3_000, clock: new VirtualClock() });
    const world = setup(budget.share('shop'));
    await take(world, 0, 400);
    expect(budget.heldFor('lists')).toBe(400);
    await world.clock.advance(10);
    await take(world, 1, 700);
    expect(budget.heldFor('lists')).toBe(700);
    await world.clock.advance(60_000);
    expect(budget.heldFor('lists')).toBe(0);
    await take(world, 2, 500);
    world.shared.close();
    expect(budget.heldFor('lists')).toBe(0);
  });

  it('keeps a list that does not fit for nobody but those who asked', async () => {
    const budget = new MemoryBudget({ capacity: 3_000, clock: new VirtualClock() });
    const world = setup(budget.share('shop'));
    await take(world, 0, 1_001);
    expect(budget.heldFor('lists')).toBe(0);
    void world.shared.list('instances', 'w', { maxAgeMs: 30_000 });
    await settle();
    expect(world.asked).toHaveLength(2);
  });
});

describe('shared lists', () => {
  it('merges callers that come together', async () => {
    const { shared, asked } = setup();
    const both = Promise.all([shared.list('instances', 'w'), shared.list('instances', 'w')]);
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.start(5);
    asked[0]?.answer(found(5));
    const [a, b] = await both;
    expect(a).toBe(b);
    expect(a).toMatchObject({ record: [{ id: 'i-5' }] });
  });

  it('keeps families and workspaces apart', async () => {
    const { shared, asked } = setup();
    void shared.list('instances', 'w');
    void shared.list('instances', 'v');
    void shared.list('boxes', 'w');
    await settle();
    expect(asked).toHaveLength(3);
  });

  it("never joins a read that started before the caller's own write was answered", async () => {
    const { shared, asked } = setup();
    const early = shared.list('instances', 'w');
    asked[0]?.start(5);
    const late = shared.list('instances', 'w', { notBefore: 6 });
    const content = shared.list('instances', 'w', { notBefore: 5 });
    asked[0]?.answer(found(5));
    await settle();
    expect(asked).toHaveLength(2);
    asked[1]?.answer(found(7));
    expect(await early).toMatchObject({ startedAt: 5 });
    expect(await content).toMatchObject({ startedAt: 5 });
    expect(await late).toMatchObject({ startedAt: 7 });
  });

  it('gathers those that need a newer read behind the one that is under way', async () => {
    const { shared, asked } = setup();
    const early = shared.list('instances', 'w');
    asked[0]?.start(5);
    const late = [6, 7, 8].map((notBefore) =>
      shared.list('instances', 'w', {
        notBefore,
        priority: new Priority(notBefore === 7 ? 'new' : 'periodic'),
      }),
    );
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.answer({ kind: 'missing', startedAt: 5 });
    await settle();
    expect(asked.map(({ priority }) => priority.lane)).toEqual(['normal', 'new']);
    asked[1]?.start(9);
    asked[1]?.answer(found(9));
    expect(await early).toMatchObject({ kind: 'missing' });
    expect((await Promise.all(late)).map((read) => read.kind)).toEqual(['found', 'found', 'found']);
  });

  it('goes on when the read under way is left by everybody', async () => {
    const { shared, asked } = setup();
    const abort = new AbortController();
    const left = rejectionOf(shared.list('instances', 'w', { signal: abort.signal }));
    asked[0]?.start(5);
    const gathered = shared.list('instances', 'w', { notBefore: 6 });
    abort.abort(new Error('stop'));
    expect(await left).toMatchObject({ message: 'stop' });
    await settle();
    asked[1]?.start(7);
    asked[1]?.answer(found(7));
    expect(await gathered).toMatchObject({ startedAt: 7 });
  });

  it('joins a read that still waits for its turn', async () => {
    const { shared, asked } = setup();
    void shared.list('instances', 'w');
    void shared.list('instances', 'w', { notBefore: 1_000 });
    await settle();
    expect(asked).toHaveLength(1);
  });

  it('makes a read that waits for its turn as urgent as the most urgent of its callers', async () => {
    const { shared, asked } = setup();
    void shared.list('instances', 'w', { priority: new Priority('periodic') });
    void shared.list('instances', 'w', { priority: new Priority('new') });
    void shared.list('instances', 'w', { priority: new Priority('normal') });
    await settle();
    expect(asked.map(({ priority }) => priority.lane)).toEqual(['normal']);
  });

  it('uses a finished read again while it is young enough and started late enough', async () => {
    const { shared, asked, clock } = setup();
    await clock.advance(5);
    const first = shared.list('instances', 'w');
    asked[0]?.start(5);
    asked[0]?.answer(found(5));
    await first;
    await clock.advance(29_999);
    expect(await shared.list('instances', 'w', { maxAgeMs: 30_000 })).toMatchObject({ startedAt: 5 });
    void shared.list('instances', 'w', { maxAgeMs: 30_000, notBefore: 6 });
    expect(asked).toHaveLength(2);
    asked[1]?.start(8);
    asked[1]?.answer({ kind: 'missing', startedAt: 8 });
    await settle();
    await clock.advance(1);
    void shared.list('instances', 'w', { maxAgeMs: 30_000 });
    await settle();
    expect(asked).toHaveLength(3);
  });

  it('believes no older read that something is not there', async () => {
    const { shared, asked, clock } = setup();
    await clock.advance(5);
    const first = shared.list('instances', 'w');
    asked[0]?.start(5);
    asked[0]?.answer(found(5));
    await first;
    await clock.advance(10);
    const options = { maxAgeMs: 30_000 };
    const there = shared.list('instances', 'w', { ...options, holding: ({ id }) => id === 'i-5' });
    expect(await there).toMatchObject({ startedAt: 5 });
    const lacking = shared.list('instances', 'w', { ...options, holding: ({ id }) => id === 'i-16' });
    await settle();
    expect(asked).toHaveLength(2);
    asked[1]?.start(16);
    asked[1]?.answer(found(16));
    expect(await lacking).toMatchObject({ record: [{ id: 'i-16' }] });
    await clock.advance(10);
    const nowhere = shared.list('instances', 'w', { holding: ({ id }) => id === 'i-9' });
    await settle();
    asked[2]?.start(26);
    asked[2]?.answer(found(26));
    expect(await nowhere).toMatchObject({ startedAt: 26 });
    expect(asked).toHaveLength(3);
  });

  it('lets one caller leave without the others, and ends the read with the last', async () => {
    const { shared, asked } = setup();
    const [one, two] = [new AbortController(), new AbortController()];
    const left = rejectionOf(shared.list('instances', 'w', { signal: one.signal }));
    const last = rejectionOf(shared.list('instances', 'w', { signal: two.signal }));
    await settle();
    one.abort(new Error('one'));
    expect(await left).toMatchObject({ message: 'one' });
    expect(asked[0]?.signal.aborted).toBe(false);
    two.abort(new Error('two'));
    expect(await last).toMatchObject({ message: 'two' });
    expect(asked[0]?.signal.aborted).toBe(true);
    void shared.list('instances', 'w');
    await settle();
    expect(asked).toHaveLength(2);
  });
});

describe('whoever waits for an entry', () => {
  it('hears of it in each list that comes, whoever asked for it, until it has heard enough', async () => {
    const { shared, asked } = setup();
    const heard: string[] = [];
    const end = shared.watch('instances', 'w', 'i-5', ({ id }) => void heard.push(id));
    shared.watch('instances', 'w', 'i-9', ({ id }) => void heard.push(id));
    let reads = 0;
    const list = async (id: string, workspace = 'w'): Promise<void> => {
      const at = ++reads;
      const read = shared.list('instances', workspace, { notBefore: at });
      await settle();
      asked[at - 1]?.start(at);
      asked[at - 1]?.answer({ kind: 'found', record: [{ id }], startedAt: at });
      await read;
    };
    await list('i-4');
    await list('i-5', 'other');
    expect(heard).toEqual([]);
    await list('i-5');
    expect(heard).toEqual(['i-5']);
    end();
    await list('i-5');
    await list('i-9');
    expect(heard).toEqual(['i-5', 'i-9']);
    shared.close();
    await list('i-9');
    expect(heard).toHaveLength(2);
  });
});
