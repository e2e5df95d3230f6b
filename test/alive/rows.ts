import type { Shape } from './shapes.ts';
import type { Seen } from './world.ts';

const MIB = 1_048_576;

/** What the columns are. */
export function headOf({ memory, heap }: { memory: number; heap: number }): string {
  return (
    `memory limit ${memory / MIB} MiB, heap ${heap} MiB\n` +
    row(
      'shape',
      'restarts',
      'leadership',
      'peak RSS',
      'longest delay',
      'longest work',
      "another's edit",
      'of it work',
      'edits',
      'became',
    )
  );
}

export function rowOf({ name }: Shape, seen: Seen): string {
  return row(
    name,
    String(seen.restarts),
    seen.leadershipLost ? 'lost' : 'kept',
    `${(seen.peakRss / MIB).toFixed(0)} MiB`,
    `${seen.longestDelay.toFixed(0)} ms`,
    `${seen.longestHold.toFixed(0)} ms`,
    `${(seen.victim / 1_000).toFixed(1)} s`,
    `${(seen.victimWork / 1_000).toFixed(1)} s`,
    String(seen.edits),
    seen.reasons,
  );
}

/** Whether it went on working. */
export function isAlive(seen: Seen, { memory, delay }: { memory: number; delay: number }): boolean {
  return seen.restarts === 0 && !seen.leadershipLost && seen.peakRss < memory && seen.longestHold < delay;
}

function row(...cells: readonly string[]): string {
  const widths = [18, 8, 10, 9, 13, 12, 14, 10, 5, 0];
  return cells
    .map((cell, i) => cell.padEnd(widths[i] ?? 0))
    .join('  ')
    .trimEnd();
}
