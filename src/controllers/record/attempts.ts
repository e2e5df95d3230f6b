import { tokenOf } from '../../api/tokens.ts';
import { backoffMs, PASSING, PATIENT, REFUSED } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Verdict } from './status/verdict.ts';

/** Parts of a resource whose effects do not wait for each other. */
export type Aspect =
  | 'create'
  /** Making another in the place of a record that is gone. */
  | 'recreate'
  | 'content'
  /** A version that is made of the content. */
  | 'version'
  | 'lease'
  /** The end of a lease, which the operator carries out in the service's stead. */
  | 'leaseEnd'
  | 'power'
  | 'requests'
  | 'deletion'
  /** Looking, which nothing is held back for: only how long to wait after a look that failed. */
  | 'read'
  /** Writes to the cluster, and what broke off a pass. */
  | 'pass';

/** Why something is not sent now. */
export interface Held {
  /**
   * `passing`: it failed, or was sent a moment ago. `refused`: nothing helps but a change. `noEffect`: it was accepted
   * again and again and is not in place. `undone`: it was in place each time, and somebody has changed it since.
   */
  why: 'passing' | 'refused' | 'noEffect' | 'undone';
  /** What to say; absent where nothing has gone wrong so far, or where the words depend on what is seen. */
  verdict: Verdict | undefined;
  retryAfterMs: number;
}

/** What was accepted so many times in a row, and is wanted again, is not sent at once. */
const SAME_DIFFERENCE_LIMIT = 3;
/** So many conflicts in a row are a refusal, whatever state each of them was answered in. */
const CONFLICTS_LIMIT = 5;
/** So many fingerprints of an aspect are kept, so that a declaration that goes to and fro finds its wait again. */
const KEPT = 8;
const HOUR_MS = 3_600_000;
/** A person's wish clears waits once in so long, milliseconds. */
const WISH_MS = 10_000;
/** Who had the last turn at a call leaves the next one to others that wait for it, milliseconds. */
const TURN_MS = 1_000;
/** What status showed as refused is tried within this time after a start, milliseconds. */
const START_MS = 600_000;

/** All that is known of one thing that is meant. */
interface Entry {
  failures: number;
  refusals: number;
  /** `count`: in that state; `inRow`: in whatever state. */
  conflicts: { at: string; count: number; inRow: number } | undefined;
  /** The refusal speaks of who asks, so other credentials are worth a try. */
  aboutAccess: boolean;
  notBefore: number;
  verdict: Verdict | undefined;
  /** How often it was accepted for the same difference, and how often in a row for any. */
  sent: number;
  sentInRow: number;
  difference: string;
  /** It was in force before it was sent last: somebody else had changed it. */
  correcting: boolean;
  /** When it was first and last seen in force since it was sent. */
  inForce: { from: number; until: number } | undefined;
  /** It is wanted once more after having been sent too often, and waits for that. */
  isTooMuch: boolean;
}

/** What is known of a call that several aspects send, and that fails in a way that may pass. */
interface Line {
  failures: number;
  notBefore: number;
  verdict: Verdict;
  /** The aspect that had its turn last, and those that have waited since. */
  last: Aspect;
  waiting: Set<Aspect>;
}

/** What is known of something that was accepted. */
export interface Accepted {
  /** What it was to put right, in the names of fields. */
  difference?: string;
  /** It was in force before: what it puts right is somebody else's doing. */
  correcting?: boolean;
  /** The service needs so long to show an effect, milliseconds. */
  quietMs?: number;
  /** What it was sent by, where other aspects use the same. */
  call?: string | undefined;
}

/**
 * The ledger of attempts of one resource: for each aspect, by a fingerprint of what is meant (declared values and
 * hashes of contents; never times, ids made on the way, or what others have written), how often it was tried and
 * when it may be tried next. It is the only source of retry times. A good read clears nothing here; success does, a
 * person's wish does, and whatever else is meant has an entry of its own.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #entries = new Map<Aspect, Map<string, Entry>>();
  readonly #lines = new Map<string, Line>();
  #clearedAt = Number.NEGATIVE_INFINITY;
  #wish: { asked: string; pending: boolean } | undefined;
  #start: { until: number; verdict: Verdict; aspect: Aspect | undefined } | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Why what is meant is not sent now; undefined when it may be. `call`: what it is sent by, where other aspects use
   * the same.
   */
  held(aspect: Aspect, fingerprint: string, call?: string): Held | undefined {
    const own = this.#heldItself(aspect, fingerprint);
    const line = call === undefined ? undefined : this.#lines.get(call);
    // What is meant for the first time is worth a try, whatever has failed before.
    if (own !== undefined || line === undefined || this.tries(aspect, fingerprint) === 0) return own;
    const left = line.notBefore - this.#clock.monotonic();
    if (left > 0) {
      if (aspect !== line.last) line.waiting.add(aspect);
      return { why: 'passing', verdict: line.verdict, retryAfterMs: left };
    }
    if (aspect !== line.last || line.waiting.size === 0) return undefined;
    line.waiting.clear();
    return { why: 'passing', verdict: line.verdict, retryAfterMs: TURN_MS };
  }

  #heldItself(aspect: Aspect, fingerprint: string): Held | undefined {
    const now = this.#clock.monotonic();
    if (this.#start !== undefined && !URGENT.has(aspect)) {
      const { until, verdict, aspect: refused = aspect } = this.#start;
      if (now >= until) this.#start = undefined;
      else if (aspect === refused) return { why: 'refused', verdict, retryAfterMs: until - now };
    }
    const entry = this.#entries.get(aspect)?.get(fingerprint);
    if (entry === undefined) return undefined;
    const tooMuch = entry.failures + entry.refusals === 0 ? stillSent(entry) - SAME_DIFFERENCE_LIMIT : -1;
    if (tooMuch >= 0 && !entry.isTooMuch) {
      entry.isTooMuch = true;
      entry.notBefore = now + backoffMs(tooMuch + 1, REFUSED, this.#random);
    }
    if (now >= entry.notBefore) return undefined;
    return { why: whyOf(entry), verdict: entry.verdict, retryAfterMs: entry.notBefore - now };
  }

  /**
   * It failed in a way that may pass by itself. Answers what to say, with the time of the next try. The failures of one
   * `call` are counted together, whichever aspect sends it: these take turns.
   */
  failed(aspect: Aspect, fingerprint: string, verdict: Verdict, askedMs?: number, call?: string): Verdict {
    const entry = this.#entry(aspect, fingerprint);
    entry.failures += 1;
    const said = this.#wait(entry, verdict, backoffMs(entry.failures, PASSING, this.#random, askedMs));
    if (call === undefined) return said;
    const { failures = 0, waiting = new Set<Aspect>() } = this.#lines.get(call) ?? {};
    const together = backoffMs(failures + 1, PASSING, this.#random, askedMs);
    waiting.delete(aspect);
    const notBefore = this.#clock.monotonic() + together;
    this.#lines.set(call, { failures: failures + 1, notBefore, verdict, last: aspect, waiting });
    return { ...said, recheckAfterMs: Math.max(said.recheckAfterMs ?? 0, together) };
  }

  /** It is not there yet, and may never be: it is looked for ever more slowly. */
  missed(aspect: Aspect, fingerprint: string, verdict: Verdict): Verdict {
    const entry = this.#entry(aspect, fingerprint);
    entry.failures += 1;
    return this.#wait(entry, verdict, backoffMs(entry.failures, PATIENT, this.#random));
  }

  /** It was not sent, since nothing is at present: no try, but its turn comes later. */
  postponed(aspect: Aspect, fingerprint: string, verdict: Verdict, askedMs?: number): Verdict {
    const entry = this.#entry(aspect, fingerprint);
    return this.#wait(entry, verdict, backoffMs(1, PASSING, this.#random, askedMs));
  }

  /** It was refused: nothing helps but a change. `aboutAccess`: of who asks, or of credentials. */
  refused(aspect: Aspect, fingerprint: string, verdict: Verdict, aboutAccess = false): Verdict {
    const entry = this.#entry(aspect, fingerprint);
    entry.refusals += 1;
    entry.aboutAccess = aboutAccess;
    return this.#wait(entry, verdict, backoffMs(entry.refusals, REFUSED, this.#random));
  }

  /** It is not to be sent before something else is meant, or a person asks. */
  closed(aspect: Aspect, fingerprint: string, verdict: Verdict): void {
    const entry = this.#entry(aspect, fingerprint);
    entry.refusals += 1;
    this.#wait(entry, verdict, Infinity);
  }

  /** Whether a person has asked for a look since this process handles the resource. */
  get wasCleared(): boolean {
    return this.#clearedAt !== Number.NEGATIVE_INFINITY;
  }

  /**
   * The state did not allow it (409). The same answer three times in the same state (`at`), or five times in states that
   * change all the time, is a refusal, worded by `refusal`.
   */
  conflict(aspect: Aspect, fingerprint: string, at: string, verdict: Verdict, refusal: Verdict): Verdict {
    const entry = this.#entry(aspect, fingerprint);
    const count = entry.conflicts?.at === at ? entry.conflicts.count + 1 : 1;
    const inRow = (entry.conflicts?.inRow ?? 0) + 1;
    entry.conflicts = { at, count, inRow };
    const isRefusal = count >= SAME_DIFFERENCE_LIMIT || inRow >= CONFLICTS_LIMIT;
    if (isRefusal) return this.refused(aspect, fingerprint, refusal);
    return this.#wait(entry, verdict, backoffMs(inRow, PASSING, this.#random));
  }

  /** How often in a row the state `at` did not allow it. */
  conflicts(aspect: Aspect, fingerprint: string, at: string): number {
    const conflicts = this.#entries.get(aspect)?.get(fingerprint)?.conflicts;
    return conflicts?.at === at ? conflicts.count : 0;
  }

  /** How often in a row it has failed or was refused. */
  tries(aspect: Aspect, fingerprint: string): number {
    const entry = this.#entries.get(aspect)?.get(fingerprint);
    return entry === undefined ? 0 : entry.failures + entry.refusals;
  }

  /** What the last try came to, whether or not it may be tried again. */
  said(aspect: Aspect, fingerprint: string): Verdict | undefined {
    return this.#entries.get(aspect)?.get(fingerprint)?.verdict;
  }

  /** How often it was accepted for the same difference. */
  sent(aspect: Aspect, fingerprint: string): number {
    const entry = this.#entries.get(aspect)?.get(fingerprint);
    return entry === undefined ? 0 : stillSent(entry);
  }

  /**
   * It was accepted: earlier failures do not count any more. Whether it takes effect shows later: what is wanted again
   * is sent after ever longer waits, and slowly once the same difference has been sent three times.
   */
  accepted(aspect: Aspect, fingerprint: string, what: Accepted = {}): void {
    const { difference = '', correcting = false, quietMs = 0, call } = what;
    if (call !== undefined) this.#lines.delete(call);
    const entry = this.#entry(aspect, fingerprint);
    entry.sent = entry.difference === difference ? stillSent(entry) + 1 : 1;
    entry.sentInRow += 1;
    Object.assign(entry, { difference, correcting, inForce: undefined, isTooMuch: false });
    Object.assign(entry, { failures: 0, refusals: 0, conflicts: undefined, verdict: undefined });
    const wait = backoffMs(entry.sentInRow, PASSING, this.#random, quietMs);
    entry.notBefore = this.#clock.monotonic() + wait;
  }

  /**
   * What is meant is in place. What was sent for a declaration has taken effect and is not counted; corrections are
   * counted down by one for each hour that the value stays.
   */
  inForce(aspect: Aspect, fingerprint: string): void {
    const entry = this.#entries.get(aspect)?.get(fingerprint);
    if (entry === undefined || entry.sent === 0) return;
    const now = this.#clock.monotonic();
    entry.inForce = { from: entry.inForce?.from ?? now, until: now };
    if (now - entry.inForce.from >= HOUR_MS) entry.sentInRow = 0;
    if (!entry.correcting) Object.assign(entry, { sent: 0, sentInRow: 0, notBefore: 0 });
  }

  /** It worked, and is not to be counted. */
  succeeded(aspect: Aspect, fingerprint: string): void {
    this.#entries.get(aspect)?.delete(fingerprint);
  }

  /** All that was meant of an aspect is over. */
  clearAspect(aspect: Aspect): void {
    this.#entries.delete(aspect);
  }

  /** Nothing waits any more. */
  clear(): void {
    this.#entries.clear();
    this.#lines.clear();
    this.#start = undefined;
    this.#clearedAt = this.#clock.monotonic();
  }

  /** Others ask from now on: what was refused to those before is worth a try. */
  accessChanged(): void {
    for (const entries of this.#entries.values()) {
      for (const [fingerprint, { aboutAccess }] of entries) if (aboutAccess) entries.delete(fingerprint);
    }
  }

  /**
   * A person wants a look now (the annotation's text, and what status says was handled of that before): clears what
   * waits, once in 10 s. Answers in how many milliseconds a wish that came too soon is to be heard; undefined when none
   * is pending.
   */
  wish(text: string | undefined, handled: string | undefined): number | undefined {
    const asked = tokenOf(text);
    if (asked !== undefined && asked !== this.#wish?.asked) {
      this.#wish = { asked, pending: asked !== handled };
    }
    if (this.#wish?.pending !== true) return undefined;
    const wait = this.#clearedAt + WISH_MS - this.#clock.monotonic();
    if (wait > 0) return wait;
    this.#wish.pending = false;
    this.clear();
    return undefined;
  }

  /**
   * Status says that the present generation was refused: a process that starts does not send it at once. `aspect`: what
   * of it; absent: all of it. `restarts`: how often processes before this one were started in the last hour, none of
   * which may have lived to wait for its turn.
   */
  startsRefused(verdict: Verdict, aspect: Aspect | undefined, restarts: number): void {
    const within = Math.min(START_MS * 2 ** restarts, REFUSED.longestMs);
    this.#start = { until: this.#clock.monotonic() + this.#random() * within, verdict, aspect };
  }

  /** Somebody has changed something: what status said before the start does not hold it back. */
  startOver(): void {
    this.#start = undefined;
  }

  #entry(aspect: Aspect, fingerprint: string): Entry {
    let entries = this.#entries.get(aspect);
    if (entries === undefined) this.#entries.set(aspect, (entries = new Map()));
    const entry: Entry = entries.get(fingerprint) ?? {
      failures: 0,
      refusals: 0,
      conflicts: undefined,
      aboutAccess: false,
      notBefore: 0,
      verdict: undefined,
      sent: 0,
      sentInRow: 0,
      difference: '',
      correcting: false,
      inForce: undefined,
      isTooMuch: false,
    };
    // The map is in the order of use: the first is what was meant longest ago.
    entries.delete(fingerprint);
    entries.set(fingerprint, entry);
    for (const [oldest] of entries) {
      if (entries.size <= KEPT) break;
      entries.delete(oldest);
    }
    return entry;
  }

  #wait(entry: Entry, verdict: Verdict, ms: number): Verdict {
    entry.verdict = verdict;
    entry.notBefore = this.#clock.monotonic() + ms;
    return { ...verdict, recheckAfterMs: ms };
  }
}

/** Neither the end of a lease nor a deletion is put off because of what was refused before a start. */
const URGENT: ReadonlySet<Aspect> = new Set(['leaseEnd', 'deletion', 'read', 'pass']);

/** How often it was sent, less the hours that it has stayed. */
function stillSent({ sent, inForce }: Entry): number {
  const hours = inForce === undefined ? 0 : Math.floor((inForce.until - inForce.from) / HOUR_MS);
  return Math.max(0, sent - hours);
}

function whyOf(entry: Entry): Held['why'] {
  if (entry.refusals > 0) return 'refused';
  if (!entry.isTooMuch) return 'passing';
  return entry.correcting && entry.inForce !== undefined ? 'undone' : 'noEffect';
}
