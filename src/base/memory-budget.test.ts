import { describe, expect, it } from 'vitest';
import { MemoryBudget, MemoryBudgetError } from './memory-budget.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

function budget(capacity: number): { all: MemoryBudget; clock: VirtualClock } {
  const clock = new VirtualClock();
  return { all: new MemoryBudget({ capacity, clock }), clock };
}

/** What has become of a promise so far. */
function fateOf(promise: Promise<unknown>): { now: string } {
  const fate = { now: 'waits' };
  promise.then(
    () => (fate.now = 'done'),
    (error: Error) => (fate.now = error.name),
  );
  return fate;
}

describe('the budget for memory', () => {
  it('lets wait what does not fit, in order, and nobody gets ahead', async () => {
    const { all } = budget(300);
    const holds = ['a', 'b', 'c'].map((owner) => all.share(owner).open('answers'));
    for (const hold of holds) expect(hold.trySet(100)).toBe(true);
    const late = all.share('d').open('contents');
    const waits = fateOf(late.set(50));
    const small = all.share('e').open('answers');
    expect(small.trySet(1)).toBe(false);
    await settle();
    expect([waits.now, all.waiting]).toEqual(['waits', 1]);
    holds[0]?.trySet(60);
    await settle();
    expect(waits.now).toBe('waits');
    expect(small.trySet(1)).toBe(false);
    holds[0]?.release();
    await settle();
    expect([waits.now, late.size, all.heldFor('contents'), all.heldFor('answers')]).toEqual([
      'done',
      50,
      50,
      200,
    ]);
    expect(small.trySet(1)).toBe(true);
  });

  it('gives one owner a third, and whoever waits for their own room holds nobody back', async () => {
    const { all } = budget(300);
    const greedy = all.share('greedy');
    expect(greedy.open('answers').trySet(100)).toBe(true);
    const more = greedy.open('answers');
    const waits = fateOf(more.set(10));
    await settle();
    expect(waits.now).toBe('waits');
    const other = all.share('other').open('answers');
    expect(other.trySet(90)).toBe(true);
    await other.set(100);
    more.release();
    await settle();
    expect(all.heldFor('answers')).toBe(200);
  });

  it('refuses in words what never fits, at once, and what does not fit in time', async () => {
    const { all, clock } = budget(300);
    const share = all.share('a');
    await expect(share.open('answers').set(101)).rejects.toThrow(/more memory than .* one namespace/);
    share.open('answers').trySet(100);
    const waits = share.open('answers').set(1);
    const fate = fateOf(waits);
    await clock.advance(19_000);
    expect(fate.now).toBe('waits');
    await clock.advance(1_000);
    await expect(waits).rejects.toBeInstanceOf(MemoryBudgetError);
    expect([all.waiting, all.refused]).toEqual([0, 2]);
  });

  it('keeps nothing for whoever is aborted or has let go while waiting', async () => {
    const { all } = budget(300);
    const full = all.share('a').open('answers');
    full.trySet(100);
    const gone = all.share('a').open('answers');
    const abort = new AbortController();
    const waits = fateOf(gone.set(50, abort.signal));
    const dropped = all.share('a').open('answers');
    const other = fateOf(dropped.set(50));
    await settle();
    abort.abort(new TypeError('stop'));
    dropped.release();
    full.release();
    await settle();
    expect([waits.now, other.now, all.heldFor('answers'), all.waiting]).toEqual(['TypeError', 'done', 0, 0]);
  });
});
