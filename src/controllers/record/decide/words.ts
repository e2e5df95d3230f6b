import { verdict, type Verdict } from '../status/verdict.ts';

/** What is missing together may only be hidden together. */
export const ALL_GONE =
  '. Everything that resources here hold in its workspace is missing at once, and a role that was taken away looks ' +
  'the same: check what the account may see';

/** What is held because others use it is looked at again so often, milliseconds. */
export const USE_LOOK_MS = 5_000;

/** Of several records with the marker a person chooses. */
export function ambiguous(noun: string, ids: readonly string[]): Verdict {
  return verdict(
    'Ambiguous',
    `Several records carry this resource's marker: ${ids.toSorted().slice(0, 10).join(', ')}. Delete the ${noun}s ` +
      `too many, or say which with the annotation boxwright.dev/adopt: <id>`,
  );
}

/** Nothing tells whether a create made something. */
export function unmarked(noun: string, ids: readonly string[]): Verdict {
  const made =
    ids.length === 0
      ? `No ${noun} was made since that nobody here holds`
      : `Made since, and held by nobody here: ${ids.toSorted().slice(0, 10).join(', ')}`;
  return verdict(
    'Ambiguous',
    `Whether the create of this resource made a ${noun} is not known, and the service keeps no tags to find it by. ${made}. ` +
      `Set the annotation boxwright.dev/adopt to the id of the one to take over, or remove the annotation ` +
      `boxwright.dev/create-intent to create one`,
  );
}

/** A create was accepted, and no read shows what it made. `isAgain`: so often that it is sent slowly. */
export function unshown(noun: string, isAgain = false): Verdict {
  return isAgain
    ? verdict(
        'NotApplied',
        `The service accepted the create of the ${noun} again and again, and no read shows it: find out on the service ` +
          'what becomes of it. The operator creates it again slowly',
      )
    : verdict('Creating', `The service accepted the create of the ${noun}, and no read shows it yet`);
}

/** Another resource has the record. */
export function rivalMessage(rival: string, noun: string): string {
  return (
    `${rival} holds this ${noun}: delete one of the two. The ${noun} stays when this one goes, and goes with the ` +
    'other one, unless that has deletionPolicy Orphan'
  );
}

/** At the beginning of a sentence. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Nothing is sent before the outcome of what was sent is known. */
export function searching(leftMs: number): Verdict {
  return verdict(
    'Creating',
    `The outcome of a create is not known: it is looked for on the service before anything is sent again`,
    Math.min(leftMs, 5_000),
  );
}
