import type { Court, Judge } from './judge.ts';

/** A generation is spoken of so soon, milliseconds: 5 s after its handling begins, and what comes before that. */
const SOON_MS = 15_000;
/** What has failed for a while is tried again after as long, with jitter, and at most so many milliseconds. */
const BACKOFF_JITTER = 1.5;
const LONGEST_BACKOFF_MS = 300_000;
/** What the API server has refused is tried again so much later, twice as long each time, and at most so many milliseconds. */
const REFUSED_MS = 600_000;
const LONGEST_REFUSED_MS = 21_600_000;
const KINDS = /^(boxes|policyboxes|instances|instanceleases|connections)$/;

/** A generation that is not spoken of yet. */
interface Open {
  uid: string;
  generation: number;
  since: number;
  /** How much later it may be for what failed before, milliseconds. */
  laterMs: number;
  /** When a write failed first. */
  failedAt?: number;
  /** How often a write was refused. */
  refusals?: number;
}

/**
 * Each generation is spoken of soon after it came, as long as an operator runs. What passed while none ran, or
 * while the API server could not be reached, refused or lost its writes, does not count.
 */
export function generations(court: Court): Judge {
  const open = new Map<string, Open>();
  const late = (what: string, { since, laterMs }: Open): void => {
    const waited = court.now() - since;
    if (waited > SOON_MS + laterMs)
      court.object(`${what}: not spoken of for ${(waited / 1_000).toFixed(1)} s`);
  };
  const afresh = (outageMs: number): void => {
    for (const [key, entry] of open) open.set(key, later(entry, outageMs));
  };
  /** Its time begins anew, after what has failed for so long. */
  const later = (entry: Open, failingMs: number): Open => {
    const backoffMs = BACKOFF_JITTER * Math.min(failingMs, LONGEST_BACKOFF_MS);
    return { ...entry, since: court.now(), laterMs: Math.max(entry.laterMs, backoffMs) };
  };
  const refused = (entry: Open, refusals: number): Open => {
    const waitMs = Math.min(REFUSED_MS * 2 ** (refusals - 1), LONGEST_REFUSED_MS);
    return { ...entry, refusals, laterMs: Math.max(entry.laterMs, BACKOFF_JITTER * waitMs) };
  };
  return {
    started: () => afresh(0),
    // What is made of one kind may need to know of any other one.
    reached: afresh,
    wrote({ status, resource, key }) {
      // A write that failed from outside is tried again at a pace of its own.
      if (status === undefined || status >= 400) {
        const entry = open.get(`${resource} ${key}`);
        if (entry === undefined || status === 422 || status === 400) return;
        const { failedAt = court.now(), refusals = 0 } = entry;
        const next = { ...later(entry, court.now() - failedAt), failedAt };
        open.set(`${resource} ${key}`, status === 403 ? refused(next, refusals + 1) : next);
      }
    },
    // A pass waits for the answer to its call.
    called({ by = '', at, endedAt = at }) {
      const entry = open.get(by);
      if (entry !== undefined) open.set(by, { ...entry, laterMs: entry.laterMs + (endedAt - at) });
    },
    changed({ resource, key, now }) {
      if (!KINDS.test(resource)) return;
      const name = `${resource} ${key}`;
      const known = open.get(name);
      if (now === undefined || now.metadata.deletionTimestamp !== undefined) {
        open.delete(name);
        return;
      }
      const { uid, generation } = now.metadata;
      if ((now.status?.observedGeneration ?? -1) >= generation) {
        if (known?.uid === uid && known.generation === generation)
          late(`${name}, generation ${generation}`, known);
        open.delete(name);
      } else if (known?.uid !== uid) {
        open.set(name, { uid, generation, since: court.now(), laterMs: 0 });
      }
    },
    ended() {
      for (const [name, entry] of open) late(`${name}, generation ${entry.generation}`, entry);
    },
  };
}
