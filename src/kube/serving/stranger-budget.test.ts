import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { StrangerBudget } from './stranger-budget.ts';

const LIMITS = { each: { burst: 3, perSecond: 1 }, all: { burst: 10, perSecond: 2 } };

function setup(most?: number): { clock: VirtualClock; budget: StrangerBudget; taken: Taken } {
  const clock = new VirtualClock();
  const budget = new StrangerBudget(clock, { ...LIMITS, ...(most === undefined ? {} : { most }) });
  const taken: Taken = (times, address) =>
    Array.from({ length: times }, () => budget.tryTake(address)).filter(Boolean).length;
  return { clock, budget, taken };
}

/** How many of so many tries are granted. */
type Taken = (times: number, address: string | undefined) => number;

describe('StrangerBudget', () => {
  it('gives each address its own, and again with time', async () => {
    const { clock, taken } = setup();
    expect(taken(5, '10.0.0.1')).toBe(3);
    expect(taken(5, '10.0.0.2')).toBe(3);
    await clock.advance(2_000);
    expect(taken(5, '10.0.0.1')).toBe(2);
  });

  it('gives all of them together so much', () => {
    const { taken } = setup();
    const granted = ['1', '2', '3', '4', '5'].map((last) => taken(5, `10.0.0.${last}`));
    expect(granted).toEqual([3, 3, 3, 1, 0]);
  });

  it.each([
    ['IPv4', '10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1'],
    ['an IPv6 network of 64 bits', 'fd00:1:2:3::1', 'fd00:1:2:3:ffff::9', 'fd00:1:2:3:4:5:6:7'],
    ['a link, whatever the interface', 'fe80::1%eth0', 'fe80::2%eth1', 'fe80::3'],
    ['connections that are gone', undefined, undefined, undefined],
  ])('counts %s as one', (_, ...addresses) => {
    const { taken } = setup();
    expect(addresses.map((address) => taken(1, address))).toEqual([1, 1, 1]);
    expect(addresses.map((address) => taken(1, address))).toEqual([0, 0, 0]);
  });

  it.each([
    ['10.0.0.1', '10.0.0.2'],
    ['fd00:1:2:3::1', 'fd00:1:2:4::1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.2'],
    ['::1', '127.0.0.1'],
  ])('tells %s from %s', (one, other) => {
    const { taken } = setup();
    expect([taken(9, one), taken(9, other)]).toEqual([3, 3]);
  });

  it('does not let others take what an address has that was let in', () => {
    const { budget, taken } = setup();
    budget.welcome('fd00:1:2:3::7');
    for (let i = 0; i < 20; i++) taken(9, `fd00:1:2:3::${i + 10}`);
    for (let i = 0; i < 20; i++) taken(9, `10.0.0.${i}`);
    expect(taken(9, 'fd00:1:2:3::8')).toBe(0);
    expect(taken(9, 'fd00:1:2:3::7')).toBe(3);
  });

  it('forgets after a day that an address was let in', async () => {
    const { clock, budget, taken } = setup();
    budget.welcome('10.0.0.1');
    await clock.advance(86_400_001);
    for (let i = 0; i < 20; i++) taken(9, `10.1.0.${i}`);
    expect(taken(9, '10.0.0.1')).toBe(0);
  });

  it('remembers so many addresses at most, those of the last calls', async () => {
    const { clock, budget, taken } = setup(4);
    taken(9, '10.0.0.1');
    for (let i = 0; i < 500; i++) {
      budget.tryTake(`10.1.${Math.floor(i / 250)}.${i % 250}`);
      expect(budget.tryTake('10.0.0.1')).toBe(false);
    }
    expect(budget.size).toBe(4);
    await clock.advance(10_000);
    budget.tryTake('10.2.0.1');
    expect(budget.size).toBe(1);
  });
});
