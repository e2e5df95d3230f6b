/** What tells the older of two resources. */
interface Aged {
  creationTimestamp: string;
  uid: string;
}

/** What a resource can show for a record. All of it is written down: nothing depends on what can be reached now. */
export interface Contender {
  metadata: Aged;
  status: { id?: string; home?: { endpoint: string } };
  /** What a seal that holds says. */
  seal: { id: string; endpoint: string; isOfPresentUid: boolean } | undefined;
  /** Whether the record carries the resource's marker; undefined: nobody has looked. */
  isMarked: boolean | undefined;
}

/** A record, and the service that holds it: ids are unique per service only. Endpoints are in their one spelling. */
export interface Disputed {
  id: string;
  endpoint: string;
}

/** From the strongest on. */
const RANKS = ['status', 'seal', 'earlier seal', 'marker', 'nothing'] as const;
/** By what a resource has a record. */
export type Rank = (typeof RANKS)[number];

/** By what a resource has a record: the strongest of what it can show. */
export function rankOf({ status, seal, isMarked }: Contender, { id, endpoint }: Disputed): Rank {
  if (status.id === id && status.home?.endpoint === endpoint) return 'status';
  if (seal?.id === id && seal.endpoint === endpoint) {
    return seal.isOfPresentUid ? 'seal' : 'earlier seal';
  }
  // What has a record of its own wants no other one.
  const isFree = [status.id, seal?.id].every((own) => own === undefined || own === id);
  return isMarked === true && isFree ? 'marker' : 'nothing';
}

/** Whether a resource comes before another; `isTie`: they rank alike, and only marker or age tells. */
export function standing(
  one: Contender,
  other: Contender,
  record: Disputed,
): { isFirst: boolean; isTie: boolean } {
  const [a, b] = [one, other].map((contender) => RANKS.indexOf(rankOf(contender, record))) as [
    number,
    number,
  ];
  if (a !== b) return { isFirst: a < b, isTie: false };
  if ((one.isMarked === true) !== (other.isMarked === true))
    return { isFirst: one.isMarked === true, isTie: true };
  return { isFirst: isOlder(one.metadata, other.metadata), isTie: true };
}

/** Of two the older: by creationTimestamp, then by uid. */
export function isOlder(one: Aged, than: Aged): boolean {
  const [a, b] = [one.creationTimestamp, than.creationTimestamp];
  return a < b || (a === b && one.uid < than.uid);
}
