import { verdict } from '../status/verdict.ts';
import { decideRestore, decideVoid } from './adoption.ts';
import { decideNew } from './creation.ts';
import { decideDeletion } from './deletion.ts';
import { decideExisting } from './existing.ts';
import { foundRecord, report, type RecordObservation, type RecordStep } from './observation.ts';
import { rivalMessage } from './words.ts';

/** Decides. Pure: no I/O, no clock. */
export function decideRecord<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.deleting && !seen.hasFinalizer) return { do: 'nothing' };
  if (seen.unconfirmed !== undefined) return report(verdict('Conflict', seen.unconfirmed));
  if (seen.deleting) return decideDeletion(seen);
  const { claim, connection } = seen;
  if (claim.kind === 'conflict')
    return decideRestore(seen, claim) ?? report(verdict('Conflict', claim.message));
  if (claim.kind === 'mine') {
    const rival = rivalOf(seen);
    if (rival !== undefined) return rival;
    if (claim.restore || (!seen.hasFinalizer && !seen.observeOnly)) {
      // Wiped by a replace, or never there with managementPolicy Observe: without a finalizer a deletion would
      // leave the record behind. It takes no connection, and does not wait for one.
      return { do: 'claim', id: claim.id };
    }
  }
  // The record may be this resource's: a deletion has to come by here.
  const isNamed = claim.kind === 'void' && claim.id !== undefined;
  if (isNamed && !seen.hasFinalizer && !seen.observeOnly) return { do: 'guard' };
  if (connection.kind !== 'ready' && claim.kind === 'void') return report(verdict('Conflict', claim.message));
  if (connection.kind === 'pending') return { do: 'await' };
  if (connection.kind === 'waiting') return report(verdict('WaitingForConnection', connection.message));
  if (claim.kind === 'mine') return decideExisting(seen);
  if (claim.kind === 'void') return decideVoid(seen, claim);
  return decideNew(seen);
}

/** Another has the record. Who it is of two that rank alike, the record itself may tell. */
function rivalOf<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> | undefined {
  const rival = seen.rival(foundRecord(seen));
  if (rival === undefined) return undefined;
  if (rival.isTie && seen.connection.kind === 'ready' && seen.existence === undefined) {
    return { do: 'look', at: 'existence' };
  }
  return report(verdict('Conflict', rivalMessage(rival.name, seen.noun)));
}
