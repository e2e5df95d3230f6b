import { defaulted, fixed, flag, oneOf, optional, text } from '../schema/build.ts';
import { keptAsIs, type Rule } from '../schema/rules.ts';
import { reference } from './references.ts';

/** Spec fields of every kind that stands for a record of the service. */
export function managedFields<const D extends string>(
  kind: string,
  deletionPolicies: readonly D[],
  deletion: string,
  absentMissing: 'Recreate' | 'Hold',
) {
  return {
    connectionRef: fixed(
      'connectionRef',
      reference('Connection', 'The service that holds the record. Immutable.'),
      anew(kind),
    ),
    managementPolicy: defaulted(
      oneOf(
        'Full: the operator changes the record to match this resource. Observe: the operator reads and reports the record, and neither writes nor deletes it. Default Full. Can be changed.',
        ['Full', 'Observe'],
      ),
      'Full',
    ),
    driftPolicy: optional(
      oneOf(
        'What the operator does when something else changes the record. Correct: it reverts the change. Report: it lists the fields in status.drift. Ignore: nothing. Absent: the default of the connection, then Correct. Can be changed.',
        ['Correct', 'Report', 'Ignore'],
      ),
    ),
    deletionPolicy: optional(oneOf(deletion, deletionPolicies)),
    onMissing: optional(
      oneOf(
        `What the operator does when something else has deleted the record or terminated the instance. Recreate: it creates the record again. Hold: it reports and waits. Absent: ${absentMissing}. Can be changed.`,
        ['Recreate', 'Hold'],
      ),
    ),
    paused: defaulted(
      flag('While true, the operator writes nothing to the record. Default false. Can be changed.'),
      false,
    ),
    owner: optional(
      fixed(
        'owner',
        text(
          'Id of the workspace that owns the record. Absent: the connection’s workspace. Immutable, absence included.',
          { maxLength: 64 },
        ),
        anew(kind),
      ),
    ),
  };
}

/** The deletion policy of kinds whose records are simply deleted. */
export const DELETION_TEXT =
  'What happens to the record when this resource is deleted. Delete: the operator deletes it. Orphan: the operator keeps it. Absent: the default of the connection, then Delete. Can be changed, even while the deletion waits.';

/** The rules on the spec of every such kind. */
export function managedRules(kind: string): Rule[] {
  return [keptAsIs('owner', anew(kind))];
}

function anew(kind: string): string {
  return `create a new ${kind} with the other value and delete this one (deletionPolicy Orphan keeps the record)`;
}
