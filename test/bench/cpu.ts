import { readFileSync } from 'node:fs';

/** Ticks per second in which Linux counts the CPU time of a process (`USER_HZ`, the same on all its platforms). */
const TICKS_PER_SECOND = 100;

/**
 * CPU time that a process has used, user and system, seconds. Unlike wall time it hardly depends on what else the
 * machine does. Linux only.
 */
export function cpuSecondsOf(pid: number | undefined): number {
  if (pid === undefined) throw new Error('the process does not run');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold anything; the fields are counted from behind it.
  const [, ...fields] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return (user + system) / TICKS_PER_SECOND;
}
