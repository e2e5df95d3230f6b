import { MASK } from '../../base/masking/secret-set.ts';
import { keepsAnotherForm } from '../content/normalised.ts';
import { isMasked } from '../content/variables.ts';
import type { Held } from './attempts.ts';
import { verdict, type ExtraCondition, type Verdict } from './status/verdict.ts';

/** A field in which a record differs from the declaration. */
export interface Difference {
  field: string;
  want: string;
  have: string;
}

/** So many fields, and so much of a value, a message names. */
const NAMED = 10;
const VALUE_LIMIT = 64;

/** The drift list of status, sorted, secrets masked. */
export function driftList(differences: readonly Difference[]): Difference[] {
  return differences
    .map(({ field, want, have }) => ({ field, want, have: isMasked(have) ? MASK : have }))
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

/** The condition that goes with a drift list. */
export function drifted(differences: readonly Difference[]): ExtraCondition {
  const message = `The record differs in ${names(differences)}: see status.drift`;
  return { type: 'Drifted', reason: 'Drifted', message };
}

/** What to say where the same differences are there again and again, or were sent a moment ago. */
export function differing(held: Held, differences: readonly Difference[]): Verdict {
  switch (held.why) {
    case 'noEffect':
      return notApplied(differences);
    case 'undone':
      return verdict(
        'NotConverging',
        keepsAnotherForm(differences) ??
          `The same difference came back again and again, in ${named(differences)}: agree with whoever else writes ` +
            `there, or set driftPolicy Report or Ignore`,
      );
    default:
      return verdict('Updating', 'The change was sent and does not show yet: it is sent again in a while');
  }
}

/** The service takes the change and keeps what it had. */
export function notApplied(differences: readonly Difference[]): Verdict {
  return verdict(
    'NotApplied',
    `The service took the change and kept its own value of ${named(differences)}: declare what it keeps, or make a ` +
      `new resource`,
  );
}

/** A PUT that is not sent. */
export function wouldWipe(keys: readonly string[]): Verdict {
  return verdict(
    'NotApplied',
    `Not sent, since it would wipe Password variables whose values only the service knows: ${keys.join(', ')}. ` +
      `Declare them here from a Secret, or remove them on the service`,
  );
}

function names(differences: readonly Difference[]): string {
  return differences
    .map(({ field }) => field)
    .toSorted()
    .slice(0, NAMED)
    .join(', ');
}

/** Fields with both values: `tags.Web (declared present, kept absent)`. */
function named(differences: readonly Difference[]): string {
  const shown = driftList(differences).slice(0, NAMED);
  const more = differences.length > shown.length ? `, and ${differences.length - shown.length} more` : '';
  const text = shown.map(
    ({ field, want, have }) => `${field} (declared ${value(want)}, kept ${value(have)})`,
  );
  return text.join(', ') + more;
}

function value(text: string): string {
  const points = Array.from(text);
  if (text === '') return 'empty';
  return points.length <= VALUE_LIMIT ? text : `${points.slice(0, VALUE_LIMIT - 1).join('')}…`;
}
