import { verdict } from '../status/verdict.ts';
import { report, type RecordObservation, type RecordStep } from './observation.ts';
import { capital } from './words.ts';

/** What carries the marker is the resource's, unless another cluster may run the installation that made it. */
export function claimMarked<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  id: string,
): RecordStep<Rec, Desired> {
  if (!seen.isBorrowed || seen.restore || seen.intent !== undefined) return { do: 'claim', id };
  return guarded(
    seen,
    report(
      verdict(
        'Conflict',
        `${capital(seen.noun)} ${id} carries this resource's marker, and another cluster may run this installation: its id was ` +
          `given with --installation-id, and its key is not here. Where that cluster is gone, start the operator once with ` +
          `--restore`,
      ),
    ),
  );
}

/** Records carry the marker, and none is claimed: a deletion in the meantime must not leave them behind without a word. */
export function guarded<Rec, Desired>(
  { hasFinalizer, deleting }: RecordObservation<Rec, Desired>,
  step: RecordStep<Rec, Desired>,
): RecordStep<Rec, Desired> {
  return hasFinalizer || deleting ? step : { do: 'guard' };
}
