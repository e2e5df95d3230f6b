import type { Clock } from '../../base/clock.ts';

/** Status says at least that handling has begun so long after a generation came up, milliseconds. */
export const FIRST_WORD_MS = 5_000;

/** A first word that is said unless it is cancelled in time. */
export interface FirstWord {
  /** Takes it back; one that is being said already is waited for. */
  cancel(): Promise<void>;
}

/** Says `say` once {@link FIRST_WORD_MS} have passed since `since` (monotonic milliseconds). `say` never rejects. */
export function firstWord(clock: Clock, since: number, say: () => Promise<void>): FirstWord {
  let said: Promise<void> = Promise.resolve();
  const timer = clock.setTimer(FIRST_WORD_MS - (clock.monotonic() - since), () => {
    said = say();
  });
  return {
    cancel: () => {
      timer.cancel();
      return said;
    },
  };
}
