import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';
import { TokenBucket } from './token-bucket.ts';

describe('TokenBucket', () => {
  it('lets a burst through, then one per interval', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { perSecond: 10, burst: 2 });
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
    expect(bucket.untilNextMs()).toBe(100);
    await clock.advance(100);
    expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  });

  it('earns nothing in a pause, leaves one for its end, and takes back what was not needed', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { perSecond: 10, burst: 5 });
    bucket.pauseUntil(2_000);
    expect([bucket.tryTake(), bucket.untilNextMs()]).toEqual([false, 2_000]);
    await clock.advance(2_000);
    expect([bucket.tryTake(), bucket.tryTake(), bucket.untilNextMs()]).toEqual([true, false, 100]);
    bucket.giveBack();
    expect(bucket.tryTake()).toBe(true);
  });

  it('never holds more than the burst, and is not moved by a jump of the wall clock', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { perSecond: 1, burst: 2 });
    bucket.tryTake();
    clock.jumpWall(3_600_000);
    expect(bucket.isFull()).toBe(false);
    await clock.advance(60_000);
    expect(bucket.isFull()).toBe(true);
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  });
});
