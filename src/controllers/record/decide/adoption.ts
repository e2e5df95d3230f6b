import type { ClaimJudgement } from '../identity/claim.ts';
import type { Adoptee } from '../looks/adoption.ts';
import { verdict } from '../status/verdict.ts';
import { claimMarked, guarded } from './marked.ts';
import { report, type RecordObservation, type RecordStep } from './observation.ts';
import { capital, rivalMessage } from './words.ts';

/** A person names the record: nothing is created instead. */
export function decideAdoption<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  id: string,
): RecordStep<Rec, Desired> {
  if (seen.adoptee === undefined) return { do: 'look', at: 'adoptee' };
  if (seen.adoptee.kind === 'failed') return report(seen.adoptee.verdict);
  return decideAdoptee(seen, id, seen.adoptee.value);
}

function decideAdoptee<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  id: string,
  adoptee: Adoptee<Rec>,
): RecordStep<Rec, Desired> {
  switch (adoptee.kind) {
    case 'free':
      if (adoptee.isEnded && seen.onMissing === 'Recreate' && !seen.observeOnly) {
        return report(
          verdict(
            'Conflict',
            `${capital(seen.noun)} ${id} cannot be adopted: it is terminated, and with onMissing Recreate another would ` +
              `be made in its place. Name another one in the annotation boxwright.dev/adopt, or remove the annotation`,
          ),
        );
      }
      return { do: 'claim', id };
    case 'notThere':
      return report(
        verdict(
          'WaitingForReference',
          `The ${seen.noun} to adopt, ${id}, is not visible: check the annotation boxwright.dev/adopt and what ` +
            `the connection's credentials can see. Nothing is created instead`,
          adoptee.recheckAfterMs,
        ),
      );
    case 'elsewhere':
      return report(
        verdict(
          'WaitingForReference',
          `The ${seen.noun} to adopt, ${id}, is not in ${adoptee.list}: ${adoptee.advice}. Nothing is created instead`,
          adoptee.recheckAfterMs,
        ),
      );
    case 'misfit':
      return report(verdict('Conflict', `${capital(seen.noun)} ${id} cannot be adopted: ${adoptee.why}`));
    case 'uncompared':
      return report(
        verdict('WaitingForReference', `${capital(seen.noun)} ${id} is not adopted yet: ${adoptee.why}`),
      );
    case 'noId':
      return report(
        verdict(
          'NeedsUser',
          `The annotation boxwright.dev/adopt holds nothing that can be an id: set it to the id of the ${seen.noun} to ` +
            `adopt, or remove it to have a new one created`,
        ),
      );
    case 'claimed':
      return report(verdict('Conflict', rivalMessage(adoptee.by, seen.noun)));
    default:
      return adoptee satisfies never;
  }
}

/** What `--restore` lets count: what this installation may have claimed, where it fits and nobody else has it. */
export function decideRestore<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  { id }: { id?: string },
): RecordStep<Rec, Desired> | undefined {
  if (!seen.restore || id === undefined || seen.connection.kind !== 'ready') return undefined;
  if (seen.restored === undefined) return { do: 'look', at: 'restored' };
  if (seen.restored.kind === 'failed') return report(seen.restored.verdict);
  return decideAdoptee(seen, id, seen.restored.value);
}

/**
 * A claim that says nothing by itself: the record counts where it carries the marker, or where an administrator or the
 * user says so. Nothing is created beside it.
 */
export function decideVoid<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  claim: Extract<ClaimJudgement, { kind: 'void' }>,
): RecordStep<Rec, Desired> {
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  if (seen.adopt !== undefined && seen.intent === undefined) return decideAdoption(seen, seen.adopt);
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') return report(seen.search.verdict);
  const found = seen.search.value;
  if (found.kind === 'one') return claimMarked(seen, found.id);
  if (found.kind === 'several' || found.kind === 'terminating')
    return guarded(seen, conflicting(seen, claim));
  return conflicting(seen, claim);
}

function conflicting<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  claim: Extract<ClaimJudgement, { kind: 'void' }>,
): RecordStep<Rec, Desired> {
  return decideRestore(seen, claim) ?? report(verdict('Conflict', claim.message));
}
