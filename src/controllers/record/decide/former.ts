import type { RecordObservation, RecordStep } from './observation.ts';
import { isDecidedBy, isFull } from '../former/list.ts';

/** Its id stays among the earlier ones, as long as there is room. */
export function decideForgetting<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
): RecordStep<Rec, Desired> {
  if (isFull(seen.former) && seen.formerSeen === undefined) return { do: 'look', at: 'former' };
  return { do: 'forgetId', why: 'Gone', former: seen.formerSeen };
}

/** Earlier records come first only where one of them is the resource's again; what else they call for waits for none. */
export function decideFound<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  record: Rec,
  desired: Desired,
): RecordStep<Rec, Desired> {
  const { former, formerSeen, adopt } = seen;
  if (former.length === 0) return { do: 'converge', record, desired };
  if (formerSeen === undefined) return { do: 'look', at: 'former' };
  const { back, again } = formerSeen;
  const [only, ...others] = back;
  if (only !== undefined && others.length + again.length === 0) {
    // Only ids out of status are ever given up: what is only claimed gets there first, and nothing is sent for it.
    const { claim } = seen;
    if (!seen.statusId && claim.kind === 'mine') return { do: 'noteId', id: claim.id };
    if (seen.statusId) return { do: 'takeBack', back: only, instead: record, isChosen: false };
  }
  const chosen = again.find((one) => one.former.id === adopt && isDecidedBy(one.former, adopt));
  if (chosen !== undefined && seen.statusId) {
    return { do: 'takeBack', back: chosen, instead: record, isChosen: true };
  }
  return { do: 'converge', record, desired, former: formerSeen };
}

/** A resource goes once its earlier records are gone, too. */
export function letGo<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  release: RecordStep<Rec, Desired>,
): RecordStep<Rec, Desired> {
  if (seen.former.length === 0) return release;
  if (seen.formerSeen === undefined) return { do: 'look', at: 'former' };
  const { due, open } = seen.formerSeen;
  if (due.length > 0) return { do: 'removeFormer', sight: seen.formerSeen };
  return open === undefined ? release : { do: 'report', verdict: open };
}
