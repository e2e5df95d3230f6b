import type { OperatorContext } from '../context.ts';
import type { AnyOfOurs, StatusWriter } from './status/writer.ts';
import { verdict } from './status/verdict.ts';

/** Status says at least that handling has begun so long after a generation came up, milliseconds. */
export const FIRST_WORD_MS = 5_000;

/** A first word that is said unless it is cancelled in time. */
export interface FirstWord {
  /** Takes it back; one that is being said already is waited for. */
  cancel(): Promise<void>;
}

/**
 * Says that a new generation is being handled once {@link FIRST_WORD_MS} have passed since `since` (monotonic
 * milliseconds) without a word; undefined where status speaks of that generation already.
 */
export function firstWord<R extends AnyOfOurs>(
  { clock, log }: Pick<OperatorContext, 'clock' | 'log'>,
  status: Pick<StatusWriter<R>, 'write'>,
  resource: R,
  { since, message, signal }: { since: number; message: () => string; signal: AbortSignal },
): FirstWord | undefined {
  if (resource.status.observedGeneration === resource.metadata.generation) return undefined;
  let said: Promise<unknown> = Promise.resolve();
  const timer = clock.setTimer(FIRST_WORD_MS - (clock.monotonic() - since), () => {
    const wish = { verdict: verdict('Pending', message()), fields: {} };
    said = status.write(resource, wish, signal).catch((error: unknown) => {
      // The pass itself goes on, and says more in the end.
      log.debug({ error, name: resource.metadata.name }, 'the first word could not be written');
    });
  });
  return {
    cancel: async () => {
      timer.cancel();
      await said;
    },
  };
}
