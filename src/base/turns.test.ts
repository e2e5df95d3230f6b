import { describe, expect, it } from 'vitest';
import { EventLoopTurns } from './turns.ts';

/** Holds the event loop. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('turns at the event loop', () => {
  it('let timers and sockets come between, however much is to be done at once', async () => {
    const turns = new EventLoopTurns();
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const done: number[] = [];
    const job = async (id: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        await turns.take();
        // What comes of a turn is a chain of promises as a rule.
        await Promise.resolve();
        work(4);
        done.push(id);
      }
    };
    await Promise.all([job(0), job(1), job(2), job(3), job(4)]);
    clearInterval(beat);
    expect(done).toHaveLength(50);
    // 200 ms of work. A turn may begin just before the slice ends.
    expect(longest).toBeLessThan(60);
    // In order: nobody gets ahead by more than a turn.
    expect(new Set(done.slice(0, 10)).size).toBe(5);
  });

  it('cost no turn of the loop where little is done', async () => {
    const turns = new EventLoopTurns(() => 0);
    let immediates = 0;
    setImmediate(() => (immediates += 1));
    for (let i = 0; i < 1_000; i++) await turns.take();
    expect(immediates).toBe(0);
  });
});
