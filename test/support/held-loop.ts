/** A turn of the event loop in which the thread worked for so long. */
export interface LongTurn {
  /** When it began and ended by the profiler's clock, microseconds. */
  from: number;
  to: number;
  /** How long the thread worked in it, milliseconds. */
  ms: number;
}

/** Timers have their turn once in each turn of the loop. */
const TURN_MS = 5;

/**
 * Tells of each turn of this thread's event loop, in the time that the thread had a processor: a machine that is busy
 * with other things makes a delay by the clock longer, and that one not.
 */
export function watchLoop(tell: (turn: LongTurn) => void): () => void {
  let [cpu, at] = [workedMs(), now()];
  const timer = setInterval(() => {
    tell({ from: at, to: now(), ms: workedMs() - cpu });
    [cpu, at] = [workedMs(), now()];
  }, TURN_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** What this thread has worked so far, milliseconds. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
