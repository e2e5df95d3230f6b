import { FORMER_LIMIT, type RecordStatus } from '../../../api/fields/status.ts';
import { rfc3339 } from '../../../base/rfc3339.ts';

/** An earlier record of a resource, as status keeps it. */
export type Former = NonNullable<RecordStatus['former']>[number];

/** What a pass has learnt of earlier records. */
export interface FormerNews {
  /** The id of the record that the resource has now. */
  own: string;
  /** Nothing of these is left, or nothing proves that they are this resource's. */
  gone: readonly string[];
  /** What is to be noted of some of them. */
  noted: readonly Former[];
  /** These were seen again although another record had taken their place. */
  again: readonly string[];
  /** What `boxwright.dev/adopt` says. */
  adopt: string | undefined;
  /** The record that the resource has now has come up, or is as declared: somebody may be using it. */
  isUp: boolean;
  /** Wall time, milliseconds. */
  now: number;
}

/** The earlier records that a status names. */
export function formerOf({ status }: { status: { former?: RecordStatus['former'] } }): readonly Former[] {
  return status.former ?? [];
}

/** Whether no further record can be noted before one of these is proved gone. */
export function isFull(former: readonly Former[]): boolean {
  return former.length >= FORMER_LIMIT;
}

/**
 * Notes one more. What another service holds cannot be looked at any more, and of an instance that has ended nothing
 * runs: the oldest of those makes room. Undefined where there is none.
 */
export function withFormer(former: readonly Former[], one: Former): Former[] | undefined {
  const others = former.filter(({ id }) => id !== one.id);
  const least =
    others.find(({ endpoint }) => endpoint !== one.endpoint) ?? others.find(({ why }) => why === 'Ended');
  const kept = isFull(others) ? others.filter((other) => other !== least) : others;
  return isFull(kept) ? undefined : [...kept, one];
}

/** Whether a word of the user that came after it was seen again says what is to become of it. */
export function isDecidedBy({ seenAt, seenWith }: Former, adopt: string | undefined): boolean {
  return seenAt !== undefined && adopt !== undefined && adopt !== seenWith;
}

/** The list as it shall be after a pass over the record that the resource has now; undefined: none is left. */
export function nextFormer(former: readonly Former[], news: FormerNews): Former[] | undefined {
  const { own, gone, noted, again, adopt, isUp, now } = news;
  // Two of them were never Ready one after the other, and the earlier one is the resource's record again.
  const ownAt = former.findIndex(({ id }) => id === own);
  const replaces = ({ id }: Former): boolean =>
    isUp || (ownAt >= 0 && former.findIndex((one) => one.id === id) > ownAt);
  const next = former
    .filter(({ id }) => id !== own && !gone.includes(id))
    .map((old) => {
      const one = noted.find(({ id }) => id === old.id) ?? old;
      const isBack = again.includes(one.id);
      if (one.why === 'Surplus') return one;
      const replaced =
        one.replacedAt === undefined && (replaces(one) || isBack)
          ? { ...one, replacedAt: rfc3339(now) }
          : one;
      if (!isBack) return replaced;
      if (isDecidedBy(one, adopt) && adopt === own) {
        return { ...replaced, why: 'Surplus' as const, since: rfc3339(now) };
      }
      return seenAgain(replaced, adopt, now);
    });
  return next.length === 0 ? undefined : next;
}

/** Only what the user says from now on decides: an older word spoke of something else. */
function seenAgain({ seenWith: _before, ...one }: Former, adopt: string | undefined, now: number): Former {
  const isId = adopt !== undefined && adopt !== '' && adopt.length <= 64;
  return { ...one, seenAt: one.seenAt ?? rfc3339(now), ...(isId ? { seenWith: adopt } : {}) };
}

/**
 * The list once an earlier record is the resource's again. What was made in its place is removed: whatever
 * deletionPolicy says where it was never Ready, by deletionPolicy where the user chose.
 */
export function takenBack(
  former: readonly Former[],
  {
    id,
    instead,
    isChosen,
    now,
  }: { id: string; instead: Omit<Former, 'why' | 'since'>; isChosen: boolean; now: number },
): Former[] {
  const at = rfc3339(now);
  const rest =
    nextFormer(former, { own: id, gone: [], noted: [], again: [], adopt: undefined, isUp: false, now }) ?? [];
  return [...rest, { ...instead, why: 'Surplus', since: at, ...(isChosen ? { replacedAt: at } : {}) }];
}
