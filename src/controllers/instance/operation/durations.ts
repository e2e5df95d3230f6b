import { parseTimestamp } from '../../../service/index.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import { baseEvent } from '../pair.ts';
import { idOf } from '../status.ts';

/** So many ends of one kind of operation are remembered: what a change of the box has made slower is learnt anew. */
const REMEMBERED = 8;
/** Boxes and events that are remembered; the longest unused goes. */
const KEYS_LIMIT = 2_000;
/** What has a longer name (service, box and event, in characters) is not remembered. */
const KEY_LENGTH = 512;
/** The service's clock may tick so coarsely, milliseconds: a look that comes a moment too early costs a whole poll. */
const TICK_MS = 50;

/**
 * How long operations take, learnt by box and event from those that were seen to end, by the service's own times. An
 * operation is looked at when the first like it had ended, instead of at some moment of a fixed rhythm.
 */
export class Durations {
  readonly #byKey = new Map<string, number[]>();

  /** An operation that ran was seen to have ended well: `record` shows when. */
  note(endpoint: string, record: InstanceRecord): void {
    const began = parseTimestamp(record.operation?.created);
    const ended = parseTimestamp(record.updated);
    if (record.state !== 'done' || began === undefined || ended === undefined || ended < began) return;
    const key = keyOf(endpoint, record);
    if (key.length > KEY_LENGTH) return;
    const before = this.#byKey.get(key) ?? [];
    this.#byKey.delete(key);
    this.#byKey.set(key, [...before, ended - began].slice(-REMEMBERED));
    if (this.#byKey.size <= KEYS_LIMIT) return;
    const [oldest] = this.#byKey.keys();
    if (oldest !== undefined) this.#byKey.delete(oldest);
  }

  /** The shortest that an operation like this has taken of late, milliseconds; undefined where none has ended. */
  shortest(endpoint: string, record: InstanceRecord): number | undefined {
    const known = this.#byKey.get(keyOf(endpoint, record));
    return known === undefined ? undefined : Math.min(...known);
  }

  /**
   * When to look at an operation that has run for a while: when the first like it had ended, where that is not farther
   * than a poll and a half, so that an end that comes early is not told late; else in a poll.
   */
  nextLook(endpoint: string, record: InstanceRecord, { ranMs, pollMs }: Looking): NextLook {
    const shortest = this.shortest(endpoint, record);
    const left = shortest === undefined ? 0 : shortest + TICK_MS - ranMs;
    const isDue = left > 0 && left <= pollMs * 1.5;
    return { afterMs: isDue ? left : pollMs, isLearnt: isDue };
  }
}

/** When an operation is looked at next. */
export interface NextLook {
  /** Milliseconds from now. */
  afterMs: number;
  /** It is expected to have ended by then. */
  isLearnt: boolean;
}

/** How long an operation has run, and how often what runs is looked at, milliseconds. */
interface Looking {
  ranMs: number;
  pollMs: number;
}

/** Events of one name are called alike in all builds. */
function keyOf(endpoint: string, record: InstanceRecord): string {
  return [endpoint, idOf(record.box) ?? '', baseEvent(record.operation?.event ?? '')].join('\n');
}
