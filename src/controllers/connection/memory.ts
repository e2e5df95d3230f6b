import type { Clock, Random } from '../../base/clock.ts';
import { Attempts } from '../record/attempts.ts';
import type { Found } from './found.ts';

/** What this process remembers of a connection. */
export interface ConnectionMemory {
  uid: string;
  /** What the last probe went well with, and what it found: status may not say so yet. */
  probed: { fingerprint: string; at: number; found: Found } | undefined;
  /** What the last probe found that did not go well: it is said until the next one is due. */
  unready: { fingerprint: string; found: Found } | undefined;
  /** The difference of the clocks that status tells, milliseconds: it is told anew only when it has moved. */
  skewMs: number | undefined;
  /** The Secret that was read last; a touched one is worth a look, whatever is in it. */
  secretVersion: string | undefined;
  /** When a person, or a touched Secret, was last heard. */
  heard: { asked: string | undefined; pending: boolean; at: number };
  /** A credential that was refused; not tried again before it changes, but slowly. */
  readonly attempts: Attempts;
}

/** What is remembered of one that nobody has looked at yet. */
export function freshMemory(
  uid: string,
  { clock, random }: { clock: Clock; random: Random },
): ConnectionMemory {
  return {
    uid,
    probed: undefined,
    unready: undefined,
    skewMs: undefined,
    secretVersion: undefined,
    heard: { asked: undefined, pending: false, at: Number.NEGATIVE_INFINITY },
    attempts: new Attempts(clock, random),
  };
}
