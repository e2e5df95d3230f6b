import { describe, expect, it } from 'vitest';
import { MemoryBudget, MemoryBudgetError } from './memory-budget.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

function budget(capacity: number): { all: MemoryBudget; clock: VirtualClock } {
  const clock = new VirtualClock();
  return { all: new MemoryBudget({ capacity: capacity * MiB, clock }), clock };
}

const MiB = 1_048_576;

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
  it('refuses at once what would only wait for what waits for it', async () => {
    const { all } = budget(400);
    const share = all.share('a');
    const [one, other] = [share.open('answers'), share.open('answers')];
    expect([one.trySet(60 * MiB), other.trySet(60 * MiB)]).toEqual([true, true]);
    const waits = fateOf(one.set(80 * MiB));
    await expect(other.set(80 * MiB)).rejects.toBeInstanceOf(MemoryBudgetError);
    expect(waits.now).toBe('waits');
    other.release();
    await settle();
    expect(waits.now).toBe('done');
  });

  it('lets wait what does not fit, in order, and nobody gets ahead', async () => {
    const { all } = budget(400);
    const holds = ['a', 'b', 'c'].map((owner) => all.share(owner).open('answers'));
    for (const hold of holds) expect(hold.trySet(100 * MiB)).toBe(true);
    const late = all.share('d').open('contents');
    const waits = fateOf(late.set(50 * MiB));
    const small = all.share('e').open('answers');
    expect(small.trySet(1 * MiB)).toBe(false);
    // What is small has room of its own.
    expect(all.share('f').open('answers').trySet(1_000)).toBe(true);
    await settle();
    expect([waits.now, all.waiting]).toEqual(['waits', 1]);
    holds[0]?.trySet(60 * MiB);
    await settle();
    expect(waits.now).toBe('waits');
    expect(small.trySet(1 * MiB)).toBe(false);
    holds[0]?.release();
    await settle();
    expect([waits.now, late.size, all.heldFor('contents'), all.heldFor('answers') - 1_000]).toEqual([
      'done',
      50 * MiB,
      50 * MiB,
      200 * MiB,
    ]);
    expect(small.trySet(1 * MiB)).toBe(true);
  });

  it('gives one owner a third of it, and whoever waits for their own room holds nobody back', async () => {
    const { all } = budget(400);
    const greedy = all.share('greedy');
    expect(greedy.open('answers').trySet(133 * MiB)).toBe(true);
    const more = greedy.open('answers');
    const waits = fateOf(more.set(10 * MiB));
    await settle();
    expect(waits.now).toBe('waits');
    const other = all.share('other').open('answers');
    expect(other.trySet(90 * MiB)).toBe(true);
    await other.set(100 * MiB);
    more.release();
    await settle();
    expect(all.heldFor('answers')).toBe(233 * MiB);
  });

  it('gives up what can be had again, the oldest first, and not what somebody keeps who holds less', async () => {
    const { all } = budget(400);
    const [shop, other] = [all.share('shop'), all.share('other')];
    const given: string[] = [];
    const keep = (share: typeof shop, name: string): void => {
      const hold = share.open('lists', () => {
        given.push(name);
        hold.release();
      });
      expect(hold.trySet(60 * MiB)).toBe(true);
    };
    keep(other, 'other');
    for (const name of ['first', 'second', 'third']) keep(shop, name);
    expect(given).toEqual(['first']);
    await shop.open('answers').set(70 * MiB);
    expect(given).toEqual(['first', 'second']);
    // Nothing is given up for what does not fit all the same.
    await expect(shop.open('answers').set(140 * MiB)).rejects.toBeInstanceOf(MemoryBudgetError);
    expect(given).toEqual(['first', 'second']);
    const third = all.share('third');
    await third.open('answers').set(100 * MiB);
    expect(given).toEqual(['first', 'second']);
    await all
      .share('fourth')
      .open('answers')
      .set(20 * MiB);
    expect(given).toEqual(['first', 'second', 'third']);
  });

  it('refuses in words what never fits, at once, and what does not fit in time', async () => {
    const { all, clock } = budget(400);
    let refused = 0;
    all.onRefusal(() => (refused += 1));
    const share = all.share('a');
    await expect(share.open('answers').set(134 * MiB)).rejects.toThrow(/more memory than .* one namespace/);
    share.open('answers').trySet(133 * MiB);
    const waits = share.open('answers').set(1 * MiB);
    const fate = fateOf(waits);
    await clock.advance(19_000);
    expect(fate.now).toBe('waits');
    await clock.advance(1_000);
    await expect(waits).rejects.toBeInstanceOf(MemoryBudgetError);
    expect([all.waiting, refused]).toEqual([0, 2]);
  });

  it('keeps nothing for whoever is aborted or has let go while waiting', async () => {
    const { all } = budget(400);
    const full = all.share('a').open('answers');
    full.trySet(133 * MiB);
    const gone = all.share('a').open('answers');
    const abort = new AbortController();
    const waits = fateOf(gone.set(50 * MiB, abort.signal));
    const dropped = all.share('a').open('answers');
    const other = fateOf(dropped.set(50 * MiB));
    await settle();
    abort.abort(new TypeError('stop'));
    dropped.release();
    full.release();
    await settle();
    expect([waits.now, other.now, all.heldFor('answers'), all.waiting]).toEqual(['TypeError', 'done', 0, 0]);
  });
});
