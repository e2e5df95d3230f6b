import { decideForgetting, decideFound } from './former.ts';
import type { Resolution } from '../kind.ts';
import { verdict, type Verdict } from '../status/verdict.ts';
import { report, type RecordObservation, type RecordStep } from './observation.ts';
import { ALL_GONE } from './words.ts';

/** A claim counts: by whether its record exists. */
export function decideExisting<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
): RecordStep<Rec, Desired> {
  if (seen.paused && !seen.underway) {
    return seen.desired === undefined ? { do: 'look', at: 'desired' } : report(paused(seen, seen.desired));
  }
  if (seen.existence === undefined) return { do: 'look', at: 'existence' };
  if (seen.existence.kind === 'failed') return report(seen.existence.verdict);
  const existence = seen.existence.value;
  switch (existence.kind) {
    case 'unproved':
      // One look may have been unlucky: the next one comes soon.
      if (existence.looks === 1) return { do: 'await', recheckAfterMs: existence.recheckAfterMs };
      return {
        do: 'report',
        unseen: true,
        verdict: {
          ...verdict(
            'Unknown',
            `The ${seen.noun} was not seen on the service, which proves nothing yet: it is looked at again` +
              (existence.allGone ? ALL_GONE : ''),
            existence.recheckAfterMs,
          ),
          doubtsReady: true,
        },
      };
    case 'absent': {
      // Nobody has deleted what no read has ever shown: its create had no effect, and is sent again like others.
      const wasThere = seen.claim.kind !== 'mine' || seen.created !== seen.claim.id;
      if (seen.observeOnly || seen.paused || (seen.onMissing === 'Hold' && wasThere)) {
        return {
          do: 'report',
          verdict: verdict(
            'RecordMissing',
            `The ${seen.noun} was deleted on the service: set onMissing to Recreate to make it again, ` +
              `or delete this resource`,
          ),
          gone: true,
        };
      }
      if (seen.desired === undefined) return { do: 'look', at: 'desired' };
      // Whether it was to end is not known then, and nothing can be made in its place.
      if (seen.desired.kind === 'waiting') return { do: 'report', verdict: seen.desired.verdict, gone: true };
      if (seen.isOver(seen.desired.desired)) {
        const message =
          `The ${seen.noun} was deleted on the service after its lease had ended: change the lease or powerState, or ` +
          'renew it, to have another one, or delete this resource';
        return { do: 'report', verdict: verdict('RecordMissing', message), gone: true };
      }
      return decideRecreation(seen);
    }
    case 'found':
      if (seen.observeOnly) {
        return shown(
          seen,
          verdict('Observed', `The ${seen.noun} is read and reported only`),
          existence.record,
        );
      }
      if (seen.desired === undefined) return { do: 'look', at: 'desired' };
      if (seen.paused) return shown(seen, paused(seen, seen.desired), existence.record);
      if (seen.desired.kind === 'waiting') return shown(seen, seen.desired.verdict, existence.record);
      return decideFound(seen, existence.record, seen.desired.desired);
    default:
      return existence satisfies never;
  }
}

/** Another is made in the place of what is gone, slowly where somebody takes each of them away. */
function decideRecreation<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  const held = seen.recreation();
  if (held !== undefined) return { do: 'report', verdict: held, gone: true };
  return seen.statusId ? decideForgetting(seen) : { do: 'unclaim' };
}

export function paused<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  desired: Resolution<Desired>,
): Verdict {
  return desired.kind === 'ready' && seen.inStep(desired.desired)
    ? { ...verdict('Paused', 'Paused, and as declared'), keepsReady: true }
    : verdict('Paused', 'Paused with a change that waits: take spec.paused away to apply it');
}

/** Nothing is sent: the record is shown as it is. */
export function shown<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  said: Verdict,
  record: Rec,
): RecordStep<Rec, Desired> {
  return seen.underway ? { do: 'follow', verdict: said, record } : report(said, record);
}
