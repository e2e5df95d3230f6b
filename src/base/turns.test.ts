import { describe, expect, it } from 'vitest';
import { EventLoopTurns } from './turns.ts';

describe('turns at the event loop', () => {
  it('let timers and sockets come between, however much is to be done at once', async () => {
    // Time passes only where somebody works.
    let now = 0;
    const turns = new EventLoopTurns(() => now);
    const loops: number[] = [];
    let since = 0;
    const look = (): void => {
      loops.push(now - since);
      since = now;
      if (done.length < 50) setImmediate(look);
    };
    const done: number[] = [];
    const job = async (id: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        await turns.take();
        // What comes of a turn is a chain of promises as a rule.
        await Promise.resolve();
        now += 4;
        done.push(id);
      }
    };
    setImmediate(look);
    await Promise.all([job(0), job(1), job(2), job(3), job(4)]);
    expect(done).toHaveLength(50);
    // Of 200; a piece of work may begin just before the slice of ten ends, and this looks at every other slice.
    expect(Math.max(...loops)).toBeLessThanOrEqual(30);
    // In order: nobody gets ahead by more than a turn.
    expect(new Set(done.slice(0, 10)).size).toBe(5);
  });

  it('go round the owners, so that who has much to do holds up nobody else', async () => {
    let now = 0;
    const turns = new EventLoopTurns(() => now);
    const order: string[] = [];
    const work = async (owner: string): Promise<void> => {
      await turns.of(owner).take();
      now += 4;
      order.push(owner);
    };
    const all = [...Array.from({ length: 20 }, () => work('busy')), work('a'), work('b'), work('a')];
    await Promise.all(all);
    expect(order.slice(0, 7)).toEqual(['busy', 'busy', 'a', 'b', 'busy', 'a', 'busy']);
  });

  it('cost no turn of the loop where little is done', async () => {
    const turns = new EventLoopTurns(() => 0);
    let immediates = 0;
    setImmediate(() => (immediates += 1));
    for (let i = 0; i < 1_000; i++) await turns.take();
    expect(immediates).toBe(0);
  });
});
