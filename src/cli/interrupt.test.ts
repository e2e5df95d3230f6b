import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { Interrupt } from './interrupt.ts';

function started(): { source: EventEmitter; clock: VirtualClock; interrupt: Interrupt; ends: number[] } {
  const source = new EventEmitter();
  const clock = new VirtualClock();
  const ends: number[] = [];
  const interrupt = new Interrupt(source, clock, (code) => ends.push(code));
  return { source, clock, interrupt, ends };
}

describe('Interrupt', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('asks for a good end at the first %s and ends with %d at the second', async (signal, code) => {
    const { source, clock, interrupt, ends } = started();
    expect(interrupt.signal.aborted).toBe(false);
    source.emit(signal, signal);
    expect(interrupt.signal.aborted).toBe(true);
    expect(interrupt.exitCode).toBe(code);
    await clock.advance(1_000);
    expect(ends).toEqual([]);
    source.emit(signal, signal);
    expect(ends).toEqual([code]);
  });

  it('takes ^C from the terminal and from a wrapper for one', () => {
    const { source, ends } = started();
    source.emit('SIGINT', 'SIGINT');
    source.emit('SIGINT', 'SIGINT');
    expect(ends).toEqual([]);
  });
});
