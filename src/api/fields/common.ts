import { defaulted, flag, oneOf, optional, text } from '../schema/build.ts';
import { immutable, type Rule } from '../schema/rules.ts';
import { reference } from './references.ts';

/** Spec fields of every kind that stands for a record of the service. */
export function managedFields<const D extends string>(
  deletionPolicies: readonly D[],
  deletion: string,
  absentMissing: 'Recreate' | 'Hold',
) {
  return {
    connectionRef: reference('Connection', 'The service that holds the record. Immutable.'),
    managementPolicy: defaulted(
      oneOf(
        'Full: the record is made to match this resource. Observe: the record is read and reported, nothing is written and nothing is deleted. Default Full. Can be changed.',
        ['Full', 'Observe'],
      ),
      'Full',
    ),
    driftPolicy: optional(
      oneOf(
        'What happens when somebody else changes the record. Correct: it is changed back. Report: the fields are listed in status.drift. Ignore: nothing. Absent: the connection’s default, then Correct. Can be changed.',
        ['Correct', 'Report', 'Ignore'],
      ),
    ),
    deletionPolicy: optional(oneOf(deletion, deletionPolicies)),
    onMissing: optional(
      oneOf(
        `What happens when somebody else has deleted the record, or terminated the instance. Recreate: it is made again. Hold: it is reported and waits. Absent: ${absentMissing}. Can be changed.`,
        ['Recreate', 'Hold'],
      ),
    ),
    paused: defaulted(
      flag('Whether the record is left alone for now. Default false. Can be changed.'),
      false,
    ),
    owner: optional(
      text(
        'Id of the workspace that owns the record. Absent: the connection’s workspace. Immutable, absence included.',
        { maxLength: 64 },
      ),
    ),
  };
}

/** The deletion policy of kinds whose records are simply deleted. */
export const DELETION_TEXT =
  'What happens to the record when this resource is deleted. Delete: it is deleted. Orphan: it stays. Absent: the connection’s default, then Delete. Can be changed, also while deletion waits.';

/** The transition rules that every such kind has. */
export function managedRules(kind: string): Rule[] {
  const anew = `make a new ${kind} with the other value and delete this one (deletionPolicy Orphan keeps the record)`;
  return [immutable('connectionRef', anew), immutable('owner', anew)];
}
