import { describe, expect, it } from 'vitest';
import { TimeStandsStill, VirtualClock } from './virtual-clock.ts';

describe('a virtual clock', () => {
  it('says what goes round in timers without letting time pass', async () => {
    const clock = new VirtualClock(0, 1_000);
    const again = (): void => void clock.setTimer(0, again);
    again();
    await expect(clock.advance(1)).rejects.toThrow(TimeStandsStill);
    await expect(clock.advance(1)).rejects.toThrow(/without time moving on; the last were: a timer: .*again/);
  });

  it('says what goes round in calls alone, once it is stopped', async () => {
    const clock = new VirtualClock(0, 1_000);
    let calls = 0;
    const call = async (): Promise<void> => {
      while (clock.turn('PATCH /boxes/web')) {
        calls += 1;
        await Promise.resolve();
      }
    };
    const loop = call();
    await expect(clock.advance(1)).rejects.toThrow(/PATCH \/boxes\/web/);
    await loop;
    expect(calls).toBe(1_000);
  });

  it('lets as much happen as it likes while time passes', async () => {
    const clock = new VirtualClock(0, 100);
    let ticks = 0;
    const again = (): void => {
      ticks += 1;
      clock.setTimer(1, again);
    };
    again();
    await clock.advance(5_000);
    expect(ticks).toBe(5_001);
  });
});
