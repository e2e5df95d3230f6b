import { systemClock } from '../../src/base/clock.ts';

/**
 * Repeats `look` until it neither throws nor answers undefined or false, and resolves with the answer. Throws
 * what the last look threw, or names `what`, after `timeoutMs`.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { timeoutMs = 60_000, everyMs = 100 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = systemClock.monotonic() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const answer = await look();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      failure = error;
    }
    if (systemClock.monotonic() >= deadline) {
      throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: failure });
    }
    await systemClock.sleep(everyMs);
  }
}
