/** How one entry of an owner's list looks to somebody who searches for their record. */
export interface Candidate {
  id: string;
  /** Undefined when the entry lacks the part that would carry the marker: it has to be read singly. */
  marked: boolean | undefined;
  /** It bears the name that the record shall have in the end, for kinds whose names are unique per owner. */
  named: boolean;
  /** Instances only: such a record is waited for, or skipped from then on. */
  ending?: 'terminating' | 'terminated';
}

/** What a search by marker ended with. */
export type SearchOutcome =
  /** `unmarked`: the service keeps no markers, so one of these may be it: what was made since the create was intended. */
  | { kind: 'none'; unmarked?: readonly string[] }
  /** Exactly one living record carries the marker. */
  | { kind: 'one'; id: string }
  /** A record with the marker is on its way out: look again. */
  | { kind: 'terminating'; id: string; recheckAfterMs?: number }
  /** Records with the marker that are terminated for good, not noted in the intent yet. */
  | { kind: 'terminated'; ids: string[] }
  | { kind: 'several'; ids: string[] }
  /** Somebody else's record has the final name. */
  | { kind: 'nameTaken'; id: string };

/** An entry could not be read, or shows no tags: nothing is known. */
export interface SearchFailure {
  kind: 'unknown';
  id: string;
}

/** What a search needs. */
export interface SearchRequest {
  candidates: readonly Candidate[];
  /** Ids noted in the intent as terminated. */
  skip: readonly string[];
  /** Whether another resource here holds the id: then it is nobody's candidate. */
  isClaimed(id: string): boolean;
  /** Reads one entry afresh; undefined when the answer proves nothing, `gone` when it is not there any more. */
  read(id: string): Promise<Candidate | 'gone' | undefined>;
}

/**
 * Finds the record that carries the marker. Never matches on equal content; an entry that lacks tags is read
 * singly, and a match counts only after a fresh single read.
 */
export async function searchByMarker(request: SearchRequest): Promise<SearchOutcome | SearchFailure> {
  const living: string[] = [];
  const terminated: string[] = [];
  let terminating: string | undefined;
  // A list may show one record twice.
  const candidates = [...new Map(request.candidates.map((entry) => [entry.id, entry])).values()];
  for (const entry of candidates) {
    // Whose an entry is takes longer to tell than whether it is marked, and an owner may have thousands.
    if (entry.marked === false || request.skip.includes(entry.id) || request.isClaimed(entry.id)) continue;
    const fresh = await request.read(entry.id);
    if (fresh === undefined || (fresh !== 'gone' && fresh.marked === undefined)) {
      return { kind: 'unknown', id: entry.id };
    }
    if (fresh === 'gone' || !fresh.marked) continue;
    if (fresh.ending === 'terminated') terminated.push(fresh.id);
    else if (fresh.ending === 'terminating') terminating = fresh.id;
    else living.push(fresh.id);
  }
  const [first, ...others] = living;
  if (first !== undefined) {
    return others.length > 0 ? { kind: 'several', ids: living } : { kind: 'one', id: first };
  }
  if (terminating !== undefined) return { kind: 'terminating', id: terminating };
  if (terminated.length > 0) return { kind: 'terminated', ids: terminated };
  for (const entry of candidates) {
    if (!entry.named || request.skip.includes(entry.id)) continue;
    // The list may be older than the end of that record.
    const fresh = await request.read(entry.id);
    if (fresh === undefined) return { kind: 'unknown', id: entry.id };
    if (fresh !== 'gone' && fresh.named) return { kind: 'nameTaken', id: entry.id };
  }
  return { kind: 'none' };
}
