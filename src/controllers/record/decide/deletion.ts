import { letGo } from './former.ts';
import { inUse } from '../status/in-use.ts';
import { verdict, type Verdict } from '../status/verdict.ts';
import { sentElsewhere } from './creation.ts';
import { claimMarked } from './marked.ts';
import { foundRecord, report, type RecordObservation, type RecordStep } from './observation.ts';
import { ALL_GONE, ambiguous, rivalMessage, USE_LOOK_MS } from './words.ts';

/** What takes the record away, and when the resource may go. */
export function decideDeletion<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
): RecordStep<Rec, Desired> {
  if (seen.orphan) return { do: 'release', why: `The ${seen.noun} stays on the service` };
  if (seen.claim.kind === 'conflict') return report(stays(seen, seen.claim.message));
  if (seen.users.length > 0) return report(inUse(seen.users, USE_LOOK_MS));
  if (seen.paused) {
    return report(
      verdict(
        'Deleting',
        'Paused: nothing is deleted until spec.paused is taken away; deletionPolicy Orphan lets go',
      ),
    );
  }
  if (seen.connection.kind === 'pending') return { do: 'await' };
  if (seen.connection.kind === 'waiting' && !seen.connection.usable) {
    return report(
      seen.connection.credentialsMissing
        ? verdict(
            'CredentialsMissing',
            `${seen.connection.message}. Bring the connection and its Secret back; in a namespace that is being ` +
              `deleted, which takes no new Secret, set deletionPolicy to Orphan, which keeps the ${seen.noun} on the ` +
              `service, and delete it there`,
          )
        : verdict('WaitingForConnection', seen.connection.message),
    );
  }
  if (seen.claim.kind === 'mine') {
    const step = decideDisputed(seen);
    if (step !== undefined) return step;
    if (seen.claim.restore) return { do: 'claim', id: seen.claim.id };
    return decideRemoval(seen);
  }
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  const away = sentElsewhere(seen);
  if (away !== undefined) {
    return report(verdict('Deleting', `${away}. Point the connection back; deletionPolicy Orphan lets go`));
  }
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') {
    return report(deletingStill(seen.search.verdict));
  }
  const found = seen.search.value;
  switch (found.kind) {
    case 'one':
    case 'terminating':
      return claimMarked(seen, found.id);
    case 'several':
      if (seen.adopt !== undefined && found.ids.includes(seen.adopt)) return { do: 'claim', id: seen.adopt };
      return report(ambiguous(seen.noun, found.ids));
    case 'none':
    case 'nameTaken':
    case 'terminated':
      if (seen.intent?.outcome === 'unknown' && seen.search.startedAt < seen.intent.concludeFrom) {
        return report(
          verdict(
            'Deleting',
            'The outcome of a create is not known: its record is looked for before this resource goes',
            Math.min(seen.intent.concludeFrom - seen.search.startedAt, 5_000),
          ),
        );
      }
      return (
        decideUnsealed(seen) ??
        letGo(seen, { do: 'release', why: `There is no ${seen.noun} of this resource on the service` })
      );
    default:
      return found satisfies never;
  }
}

/**
 * No record carries the marker, and a claim that counts for nothing names one: it may be of before claims were sealed.
 * Where the record is there and fits, a person says whose it is; where it is not seen, its absence is proved first.
 */
function decideUnsealed<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
): RecordStep<Rec, Desired> | undefined {
  if (seen.claim.kind !== 'void' || seen.claim.id === undefined) return undefined;
  if (seen.restored === undefined) return { do: 'look', at: 'restored' };
  if (seen.restored.kind === 'failed') return report(deletingStill(seen.restored.verdict));
  switch (seen.restored.value.kind) {
    case 'free':
      return seen.restore ? { do: 'claim', id: seen.claim.id } : report(stays(seen, seen.claim.message));
    case 'uncompared':
      return report(stays(seen, seen.claim.message));
    case 'notThere': {
      if (seen.existence === undefined) return { do: 'look', at: 'existence' };
      if (seen.existence.kind === 'failed') return report(deletingStill(seen.existence.verdict));
      const { value } = seen.existence;
      if (value.kind === 'absent') return undefined;
      return report(
        verdict(
          'Deleting',
          `The ${seen.noun} ${seen.claim.id}, which the claim names, is not seen, which proves nothing yet: it is looked ` +
            'for again. deletionPolicy Orphan lets go',
          value.kind === 'unproved' ? value.recheckAfterMs : USE_LOOK_MS,
        ),
      );
    }
    // Not even an administrator's word makes it this resource's.
    case 'elsewhere':
    case 'misfit':
    case 'claimed':
    case 'noId':
      return undefined;
    default:
      return seen.restored.value satisfies never;
  }
}

function deletingStill({ reason, message, recheckAfterMs }: Verdict): Verdict {
  return verdict('Deleting', `${reason}: ${message}. deletionPolicy Orphan lets go`, recheckAfterMs);
}

/**
 * Another resource comes before this one for the record. This one goes only where the other's right is beyond doubt, and
 * the record does not say that it was made for this one.
 */
function decideDisputed<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
): RecordStep<Rec, Desired> | undefined {
  const record = foundRecord(seen);
  const rival = seen.rival(record);
  if (rival === undefined) return undefined;
  if (seen.existence === undefined) return { do: 'look', at: 'existence' };
  const isGone = seen.existence.kind === 'seen' && seen.existence.value.kind === 'absent';
  const isOthers = rival.isBeyondDoubt && record !== undefined && seen.isMarked(record) === false;
  if ((isGone || isOthers) && seen.intent === undefined) {
    return letGo(seen, { do: 'release', why: `The ${seen.noun} is not this resource's` });
  }
  return report(stays(seen, rivalMessage(rival.name, seen.noun)));
}

/** It may have a record that is not its own to delete: nobody but a person lets it go. */
export function stays<Rec, Desired>(
  { noun, plural }: RecordObservation<Rec, Desired>,
  message: string,
): Verdict {
  return verdict(
    'Conflict',
    `${message}. It is not let go of before that is settled: deletionPolicy Orphan lets go and leaves the ${noun} as it is. ` +
      `For all in a namespace: kubectl get ${plural} -o name | xargs -I% kubectl patch % --type merge ` +
      `-p '{"spec":{"deletionPolicy":"Orphan"}}'; those that say nothing take the connection's spec.defaults.deletionPolicy`,
    USE_LOOK_MS * 12,
  );
}

function decideRemoval<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.existence === undefined) return { do: 'look', at: 'existence' };
  if (seen.existence.kind === 'failed') {
    const { reason, message, recheckAfterMs } = seen.existence.verdict;
    const way =
      reason === 'Unknown'
        ? `, which does not prove that the ${seen.noun} is gone: where it is, deletionPolicy Orphan lets go`
        : '';
    return report(verdict('Deleting', `${reason}: ${message}${way}`, recheckAfterMs));
  }
  const existence = seen.existence.value;
  switch (existence.kind) {
    case 'absent':
      return letGo(seen, {
        do: 'release',
        why: `The ${seen.noun} is gone`,
        gone: true,
        ...(existence.shorter === true && seen.claim.kind === 'mine' ? { lookFor: seen.claim.id } : {}),
      });
    case 'unproved': {
      const said = verdict(
        'Deleting',
        `The ${seen.noun} is not seen any more, which proves nothing yet: it is looked at again` +
          (existence.allGone ? ALL_GONE : ''),
        existence.recheckAfterMs,
      );
      if (existence.askByDelete !== true || seen.isProtected || seen.claim.kind !== 'mine')
        return report(said);
      return { do: 'askByDelete', id: seen.claim.id, verdict: said };
    }
    case 'found':
      if (seen.isProtected) return report(isProtected(seen), existence.record);
      return { do: 'remove', record: existence.record };
    default:
      return existence satisfies never;
  }
}

function isProtected<Rec, Desired>({ noun }: RecordObservation<Rec, Desired>): Verdict {
  return verdict(
    'Protected',
    `spec.terminationProtection keeps the ${noun} on the service though this resource is being deleted: set it to false ` +
      'to end it, or spec.deletionPolicy to Orphan to let go of it as it is',
    USE_LOOK_MS * 12,
  );
}
