import { describe, expect, it } from 'vitest';
import { Places, type Leave } from './places.ts';
import { settle } from './virtual-clock.ts';

function open(places: number, each: number) {
  const shared = new Places({ places, each });
  const order: string[] = [];
  const held: Leave[] = [];
  const ask = async (owner: string, signal?: AbortSignal): Promise<void> => {
    held.push(await shared.take(owner, signal));
    order.push(owner);
  };
  return { order, held, ask };
}

describe('places', () => {
  it('are never all with one owner, however many it wants', async () => {
    const { order, ask } = open(4, 3);
    for (let i = 0; i < 20; i++) void ask('big');
    await settle();
    void ask('small');
    await settle();
    expect(order).toEqual(['big', 'big', 'big', 'small']);
  });

  it('go round the owners when they become free', async () => {
    const { order, held, ask } = open(2, 2);
    for (let i = 0; i < 6; i++) void ask('big');
    await settle();
    for (let i = 0; i < 2; i++) void ask('small');
    for (let i = 0; i < 4; i++) {
      held.shift()?.();
      await settle();
    }
    expect(order).toEqual(['big', 'big', 'big', 'small', 'big', 'small']);
  });

  it('are not for who has gone, and given back once', async () => {
    const { order, held, ask } = open(1, 1);
    void ask('a');
    await settle();
    const gone = new AbortController();
    const waits = ask('b', gone.signal);
    gone.abort(new Error('given up'));
    await expect(waits).rejects.toThrow('given up');
    void ask('c');
    void ask('c');
    held[0]?.();
    held[0]?.();
    await settle();
    expect(order).toEqual(['a', 'c']);
    await expect(ask('d', gone.signal)).rejects.toThrow('given up');
  });
});
