import type { ClaimJudgement } from './identity/claim.ts';
import type { Existence } from './existence.ts';
import { MAX_SKIP, type CreateIntent } from './identity/intent.ts';
import type { Resolution } from './kind.ts';
import type { SentOutcome } from './memory.ts';
import type { SearchOutcome } from './identity/search.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What is held because others use it is looked at again so often, milliseconds. */
const USE_LOOK_MS = 5_000;

/** What a search, an existence look or an adoption look came to, or why it came to nothing. */
export type Looked<T> = { kind: 'seen'; value: T; startedAt: number } | { kind: 'failed'; verdict: Verdict };

/** Whether a record may be adopted. */
export type Adoptee<Rec> =
  | { kind: 'free'; record: Rec }
  | { kind: 'notThere'; recheckAfterMs: number }
  /** It is not in the list of the workspace in which its absence would have to be proved. */
  | { kind: 'elsewhere'; owner: string; recheckAfterMs: number }
  | { kind: 'misfit'; why: string }
  | { kind: 'claimed'; by: string };

/**
 * What is known in a pass. The parts that cost a call are absent until {@link decideRecord} asks for them
 * with a `look`; it is then asked again.
 */
export interface RecordObservation<Rec, Desired> {
  noun: string;
  deleting: boolean;
  hasFinalizer: boolean;
  /** Policy Orphan, or management Observe: the record is never deleted. */
  orphan: boolean;
  observeOnly: boolean;
  paused: boolean;
  /** Why the installation id needs confirming. */
  unconfirmed: string | undefined;
  claim: ClaimJudgement;
  /** `status.id` is there. */
  statusId: boolean;
  /** The older resource here that holds the same record, in words. */
  rival: string | undefined;
  adopt: string | undefined;
  connection:
    | { kind: 'ready' }
    /** It is being looked at for the first time, which takes a moment. */
    | { kind: 'pending' }
    | { kind: 'waiting'; message: string; usable: boolean; credentialsMissing: boolean };
  /** The record that a create of this process was answered with, or that a search has found. */
  created: string | undefined;
  intent: { intent: CreateIntent; outcome: SentOutcome; concludeFrom: number } | undefined;
  /** Whether an intent that is not sent yet says what the create would carry now. */
  intentFits: (intent: CreateIntent, desired: Desired) => boolean;
  onMissing: 'Recreate' | 'Hold';
  deleteSent: boolean;
  users: { names: string[]; others: boolean };
  /** What the last try of this very declaration came to, while the next one waits. */
  refusal: (desired: Desired) => Verdict | undefined;
  /** Whether what is declared is what was applied last. */
  inStep: (desired: Desired) => boolean;

  desired?: Resolution<Desired>;
  search?: Looked<SearchOutcome>;
  existence?: Looked<Existence<Rec>>;
  adoptee?: Looked<Adoptee<Rec>>;
}

/** The parts of an observation that cost calls. */
export type Look = 'desired' | 'search' | 'existence' | 'adoptee';

/** The one next step for a resource, as far as identity, creation and deletion go. */
export type RecordStep<Rec, Desired> =
  | { do: 'look'; at: Look }
  /** Nothing to send: say so. `record`: what was seen of it, to be shown as well. */
  | { do: 'report'; verdict: Verdict; record?: Rec }
  | { do: 'nothing' }
  /** Nothing to say yet: something that takes a moment is under way. */
  | { do: 'await' }
  /** `outcome`: whether a create of that intent can be under way already. */
  | { do: 'writeIntent'; skip: string[]; try: number; outcome: 'unsent' | 'unknown'; desired: Desired }
  | { do: 'create'; intent: CreateIntent; desired: Desired }
  /** `finalizerToo`: a create was refused for certain, and nothing else of ours is on the service. */
  | { do: 'clearIntent'; finalizerToo?: true }
  | { do: 'claim'; id: string }
  | { do: 'forgetId' }
  | { do: 'unclaim' }
  | { do: 'converge'; record: Rec; desired: Desired }
  | { do: 'remove'; record: Rec }
  /** `gone`: its record is proved gone. */
  | { do: 'release'; why: string; gone?: true };

/** Decides. Pure: no I/O, no clock. */
export function decideRecord<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.deleting && !seen.hasFinalizer) return { do: 'nothing' };
  if (seen.unconfirmed !== undefined) return report(verdict('Conflict', seen.unconfirmed));
  if (seen.deleting) return decideDeletion(seen);
  if (seen.claim.kind === 'conflict') return report(verdict('Conflict', seen.claim.message));
  if (seen.rival !== undefined) return report(verdict('Conflict', rivalMessage(seen.rival, seen.noun)));
  if (seen.claim.kind === 'mine' && (seen.claim.restore || (!seen.hasFinalizer && !seen.observeOnly))) {
    // Wiped by a replace, or never there with managementPolicy Observe: without a finalizer a deletion would
    // leave the record behind. It takes no connection, and does not wait for one.
    return { do: 'claim', id: seen.claim.id };
  }
  if (seen.connection.kind === 'pending') return { do: 'await' };
  if (seen.connection.kind === 'waiting') {
    return report(verdict('WaitingForConnection', seen.connection.message));
  }
  if (seen.claim.kind === 'mine') return decideExisting(seen);
  if (seen.paused)
    return report(verdict('Paused', 'Paused: nothing is created until spec.paused is taken away'));
  return decideNew(seen);
}

function decideExisting<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.paused) {
    if (seen.desired === undefined) return { do: 'look', at: 'desired' };
    if (seen.desired.kind === 'ready' && seen.inStep(seen.desired.desired)) {
      return report({ ...verdict('Paused', 'Paused, and as declared'), keepsReady: true });
    }
    return report(verdict('Paused', 'Paused with a change that waits: take spec.paused away to apply it'));
  }
  if (seen.existence === undefined) return { do: 'look', at: 'existence' };
  if (seen.existence.kind === 'failed') return report(seen.existence.verdict);
  const existence = seen.existence.value;
  switch (existence.kind) {
    case 'unproved':
      return report(
        verdict(
          'Unknown',
          `The ${seen.noun} was not seen on the service, which proves nothing yet: it is looked at again`,
          existence.recheckAfterMs,
        ),
      );
    case 'absent':
      if (seen.observeOnly || seen.onMissing === 'Hold') {
        return report(
          verdict(
            'RecordMissing',
            `The ${seen.noun} was deleted on the service: set onMissing to Recreate to make it again, ` +
              `or delete this resource`,
          ),
        );
      }
      return seen.statusId ? { do: 'forgetId' } : { do: 'unclaim' };
    case 'found':
      if (seen.observeOnly) {
        return report(verdict('Observed', `The ${seen.noun} is read and reported only`), existence.record);
      }
      if (seen.desired === undefined) return { do: 'look', at: 'desired' };
      if (seen.desired.kind === 'waiting') return report(seen.desired.verdict, existence.record);
      return { do: 'converge', record: existence.record, desired: seen.desired.desired };
    default:
      return existence satisfies never;
  }
}

function decideNew<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  if (seen.adopt !== undefined && seen.intent === undefined) return decideAdoption(seen, seen.adopt);
  if (seen.observeOnly) {
    return report(
      verdict(
        'WaitingForReference',
        `Nothing to observe yet: name the ${seen.noun} with the annotation boxwright.dev/adopt: <id>`,
      ),
    );
  }
  if (seen.intent?.outcome === 'refused') return { do: 'clearIntent', finalizerToo: true };
  if (seen.adopt !== undefined && seen.intent?.outcome === 'unsent') return { do: 'clearIntent' };
  if (seen.desired === undefined) return { do: 'look', at: 'desired' };
  if (seen.desired.kind === 'waiting') return report(seen.desired.verdict);
  const { desired } = seen.desired;
  const refusal = seen.refusal(desired);
  if (seen.intent === undefined && refusal !== undefined) return report(refusal);
  if (seen.intent?.outcome === 'unsent') {
    if (refusal !== undefined) return report(refusal);
    const { intent } = seen.intent;
    if (seen.intentFits(intent, desired)) return { do: 'create', intent, desired };
    return { do: 'writeIntent', skip: intent.skip, try: intent.try, outcome: 'unsent', desired };
  }
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') return report(seen.search.verdict);

  const earlier = seen.intent?.intent;
  const full = (earlier?.skip.length ?? 0) >= MAX_SKIP;
  const found: SearchOutcome =
    seen.search.value.kind === 'terminated' && full ? { kind: 'none' } : seen.search.value;
  const open = seen.intent !== undefined && seen.search.startedAt < seen.intent.concludeFrom;
  switch (found.kind) {
    case 'one':
      return { do: 'claim', id: found.id };
    case 'several':
      if (seen.adopt !== undefined && found.ids.includes(seen.adopt)) {
        return { do: 'claim', id: seen.adopt };
      }
      return report(ambiguous(seen.noun, found.ids));
    case 'terminating':
      return report(
        verdict(
          'Creating',
          `Waits for the end of ${seen.noun} ${found.id}, an earlier one of this resource`,
          5_000,
        ),
      );
    case 'terminated':
      return {
        do: 'writeIntent',
        skip: [...(earlier?.skip ?? []), ...found.ids].slice(0, MAX_SKIP),
        try: earlier?.try ?? 1,
        // What was sent before is still to be waited for: its record may be listed later than these.
        outcome: seen.intent === undefined ? 'unsent' : 'unknown',
        desired,
      };
    case 'nameTaken':
      if (seen.adopt !== undefined && seen.intent !== undefined && !open) return { do: 'clearIntent' };
      return report(
        verdict(
          'NameTaken',
          `${capital(seen.noun)} ${found.id} has this name already: choose another spec.name, ` +
            `or take it over with the annotation boxwright.dev/adopt: ${found.id}`,
        ),
      );
    case 'unknown':
      return report(
        verdict('Unknown', 'An entry of the list could not be read singly: it is looked at again', 5_000),
      );
    case 'none':
      if (seen.intent === undefined) {
        return { do: 'writeIntent', skip: [], try: 1, outcome: 'unsent', desired };
      }
      if (open) {
        return report(
          verdict(
            'Creating',
            `The outcome of a create is not known: it is looked for on the service before anything is sent again`,
            Math.min(seen.intent.concludeFrom - seen.search.startedAt, 5_000),
          ),
        );
      }
      // What is to be adopted is not created instead.
      if (seen.adopt !== undefined) return { do: 'clearIntent' };
      if (refusal !== undefined) return report(refusal);
      return {
        do: 'writeIntent',
        skip: seen.intent.intent.skip,
        try: seen.intent.intent.try + 1,
        outcome: 'unsent',
        desired,
      };
    default:
      return found satisfies never;
  }
}

function decideAdoption<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  id: string,
): RecordStep<Rec, Desired> {
  if (seen.adoptee === undefined) return { do: 'look', at: 'adoptee' };
  if (seen.adoptee.kind === 'failed') return report(seen.adoptee.verdict);
  const adoptee = seen.adoptee.value;
  switch (adoptee.kind) {
    case 'free':
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
          `The ${seen.noun} to adopt, ${id}, is not in the list of workspace "${adoptee.owner}": set spec.owner to the ` +
            `id of the workspace that owns it. Nothing is created instead`,
          adoptee.recheckAfterMs,
        ),
      );
    case 'misfit':
      return report(verdict('Conflict', `${capital(seen.noun)} ${id} cannot be adopted: ${adoptee.why}`));
    case 'claimed':
      return report(verdict('Conflict', rivalMessage(adoptee.by, seen.noun)));
    default:
      return adoptee satisfies never;
  }
}

function decideDeletion<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.orphan) return { do: 'release', why: `The ${seen.noun} stays on the service` };
  if (seen.claim.kind === 'conflict' && seen.claim.newer === true) {
    return report(verdict('Conflict', seen.claim.message));
  }
  if ((seen.claim.kind === 'conflict' || seen.rival !== undefined) && seen.intent === undefined) {
    return { do: 'release', why: `The ${seen.noun} is not this resource's` };
  }
  if (seen.users.names.length > 0 || seen.users.others) return report(inUse(seen.users));
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
            `${seen.connection.message}. Bring the connection and its Secret back, or set deletionPolicy to ` +
              `Orphan to let go and keep the ${seen.noun}`,
          )
        : verdict('WaitingForConnection', seen.connection.message),
    );
  }
  // An older claimant's record is not this one's to delete, whatever the intent has made.
  if (seen.claim.kind === 'mine' && seen.rival === undefined) {
    if (seen.claim.restore) return { do: 'claim', id: seen.claim.id };
    return decideRemoval(seen);
  }
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') return report(seen.search.verdict);
  const found = seen.search.value;
  switch (found.kind) {
    case 'one':
      return { do: 'claim', id: found.id };
    case 'several':
      return report(ambiguous(seen.noun, found.ids));
    case 'terminating':
      return { do: 'claim', id: found.id };
    case 'unknown':
      return report(
        verdict('Deleting', 'An entry of the list could not be read singly: it is looked at again', 5_000),
      );
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
      return { do: 'release', why: `There is no ${seen.noun} of this resource on the service` };
    default:
      return found satisfies never;
  }
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
      return { do: 'release', why: `The ${seen.noun} is gone`, gone: true };
    case 'unproved':
      return report(
        verdict(
          'Deleting',
          `The ${seen.noun} is not seen any more, which proves nothing yet: it is looked at again`,
          existence.recheckAfterMs,
        ),
      );
    case 'found':
      return { do: 'remove', record: existence.record };
    default:
      return existence satisfies never;
  }
}

function report<Rec, Desired>(said: Verdict, record?: Rec): RecordStep<Rec, Desired> {
  return record === undefined ? { do: 'report', verdict: said } : { do: 'report', verdict: said, record };
}

function inUse(users: { names: string[]; others: boolean }): Verdict {
  const shown = users.names.slice(0, 5).join(', ');
  const more = users.names.length > 5 ? ` and ${users.names.length - 5} more` : '';
  const others = users.others ? `${shown === '' ? '' : ', and by '}resources of other namespaces` : '';
  return verdict(
    'InUse',
    `Used by ${shown}${more}${others}: delete these first; this one then goes by itself`,
    // Users that name it by its id are not told of by the watch.
    USE_LOOK_MS,
  );
}

function ambiguous(noun: string, ids: readonly string[]): Verdict {
  return verdict(
    'Ambiguous',
    `Several records carry this resource's marker: ${ids.toSorted().slice(0, 10).join(', ')}. Delete the ${noun}s ` +
      `too many, or say which with the annotation boxwright.dev/adopt: <id>`,
  );
}

function rivalMessage(rival: string, noun: string): string {
  return (
    `${rival} holds this ${noun}: delete one of the two. The ${noun} stays when this one goes, and goes with the ` +
    'other one, unless that has deletionPolicy Orphan'
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
