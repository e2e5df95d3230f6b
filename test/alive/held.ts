/**
 * Loaded into the operator's process before anything else (`--import`): how long its event loop is held. Writes to the
 * file that its own URL names (`?to=<path>`), each second and at the end.
 */
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { watchLoop, type LongTurn } from '../support/held-loop.ts';

/** What is in the file. */
export interface Held {
  /** The most that the thread worked in one turn of the loop, milliseconds. */
  longest: number;
  worst: LongTurn[];
}

/** The program is loaded once the thread has worked no longer than this in a turn, milliseconds. */
const LOADED_MS = 20;
const KEPT = 20;
const file = new URL(import.meta.url).searchParams.get('to');

if (file !== null) {
  const held: Held = { longest: 0, worst: [] };
  let written = performance.now();
  let isLoaded = false;
  watchLoop((turn) => {
    isLoaded ||= turn.ms < LOADED_MS;
    if (!isLoaded) return;
    held.longest = Math.max(held.longest, turn.ms);
    if (held.worst.length < KEPT || turn.ms > (held.worst.at(-1)?.ms ?? 0)) {
      held.worst = [...held.worst, turn].toSorted((a, b) => b.ms - a.ms).slice(0, KEPT);
    }
    if (performance.now() - written < 1_000) return;
    written = performance.now();
    writeFileSync(file, JSON.stringify(held));
  });
  process.on('exit', () => writeFileSync(file, JSON.stringify(held)));
}
