import type { Court, Judge } from './judge.ts';

/** A generation is spoken of so soon, milliseconds: 5 s after its handling begins, and what comes before that. */
const SOON_MS = 15_000;
const KINDS = /^(boxes|policyboxes|instances|instanceleases|connections)$/;

/**
 * Each generation is spoken of soon after it came, as long as an operator runs. What passed while none ran, or
 * while the API server refused or lost its writes, does not count.
 */
export function generations(court: Court): Judge {
  const open = new Map<string, { uid: string; generation: number; since: number }>();
  const late = (what: string, since: number): void => {
    const waited = court.now() - since;
    if (waited > SOON_MS) court.object(`${what}: not spoken of for ${(waited / 1_000).toFixed(1)} s`);
  };
  const afresh = (): void => {
    for (const [key, entry] of open) open.set(key, { ...entry, since: court.now() });
  };
  return {
    started: afresh,
    wrote({ status, resource, key }) {
      // A write that failed from outside is tried again at a pace of its own.
      if (status === undefined || status >= 400) {
        const entry = open.get(`${resource} ${key}`);
        if (entry !== undefined && status !== 422 && status !== 400)
          open.set(`${resource} ${key}`, { ...entry, since: court.now() });
      }
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
          late(`${name}, generation ${generation}`, known.since);
        open.delete(name);
      } else if (known?.uid !== uid) {
        open.set(name, { uid, generation, since: court.now() });
      }
    },
    ended() {
      for (const [name, { generation, since }] of open) late(`${name}, generation ${generation}`, since);
    },
  };
}
