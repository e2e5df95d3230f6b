import { ANNOTATIONS } from '../../api/names.ts';
import type { ServiceErrorCode } from '../../service/index.ts';
import { decideForgetting, decideFound, letGo } from './former/decide.ts';
import type { Former } from './former/list.ts';
import type { FormerSight, Seen } from './former/formers.ts';
import type { ClaimJudgement } from './identity/claim.ts';
import type { Existence } from './existence.ts';
import { MAX_SKIP, type CreateIntent } from './identity/intent.ts';
import type { Resolution } from './kind.ts';
import type { SentOutcome } from './memory.ts';
import type { SearchOutcome } from './identity/search.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What is held because others use it is looked at again so often, milliseconds. */
const USE_LOOK_MS = 5_000;

/** Where nothing can be made in the place of a record that is gone, it is looked for so often, milliseconds. */
const FORMER_LOOK_MS = 600_000;

/** What is missing together may only be hidden together. */
const ALL_GONE =
  '. Everything that resources here hold in its workspace is missing at once, and a role that was taken away looks ' +
  'the same: check what the account may see';

/** What a search, an existence look or an adoption look came to, or why it came to nothing. */
export type Looked<T> =
  | { kind: 'seen'; value: T; startedAt: number }
  /** `code`: what the call failed with. */
  | { kind: 'failed'; verdict: Verdict; code?: ServiceErrorCode };

/** Whether a record may be adopted. */
export type Adoptee<Rec> =
  /** `isEnded`: it is terminated for good. */
  | { kind: 'free'; record: Rec; isEnded: boolean }
  | { kind: 'notThere'; recheckAfterMs: number }
  /** It is not in the list of the workspace in which its absence would have to be proved. */
  | { kind: 'elsewhere'; owner: string; recheckAfterMs: number }
  | { kind: 'misfit'; why: string }
  /** Whether it fits cannot be told yet. */
  | { kind: 'uncompared'; why: string }
  /** The annotation names nothing that could be an id. */
  | { kind: 'noId' }
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
  /** Status says that an operation is under way: its end is looked for, whatever else has to wait. */
  underway: boolean;
  /** Why the installation id needs confirming. */
  unconfirmed: string | undefined;
  claim: ClaimJudgement;
  /** `status.id` is there. */
  statusId: boolean;
  /** The older resource here that holds the same record, in words. */
  rival: string | undefined;
  adopt: string | undefined;
  /** Earlier records, as status names them. */
  former: readonly Former[];
  connection:
    | { kind: 'ready' }
    /** It is being looked at for the first time, which takes a moment. */
    | { kind: 'pending' }
    | { kind: 'waiting'; message: string; usable: boolean; credentialsMissing: boolean };
  /** The record that a create of this process was answered with. */
  created: string | undefined;
  intent:
    | {
        intent: CreateIntent;
        outcome: SentOutcome;
        concludeFrom: number;
        /** The endpoint that it speaks of, where the connection is to another one. */
        sentTo?: string | undefined;
      }
    | undefined;
  /** Whether an intent that is not sent yet says what the create would carry now. */
  intentFits: (intent: CreateIntent, desired: Desired) => boolean;
  onMissing: 'Recreate' | 'Hold';
  /** Who of its own namespace uses it. */
  users: readonly string[];
  /** What the last try of this very declaration came to, while the next one waits. */
  refusal: (desired: Desired) => Verdict | undefined;
  /** Whether the record has come to the end that was declared for it, so that none is made in its place. */
  isOver: (desired: Desired) => boolean;
  /** Whether what is declared is what was applied last. */
  inStep: (desired: Desired) => boolean;

  desired?: Resolution<Desired>;
  search?: Looked<SearchOutcome>;
  existence?: Looked<Existence<Rec>>;
  adoptee?: Looked<Adoptee<Rec>>;
  formerSeen?: FormerSight<Rec>;
}

/** The parts of an observation that cost calls. */
export type Look = 'desired' | 'search' | 'existence' | 'adoptee' | 'former';

/** The one next step for a resource, as far as identity, creation and deletion go. */
export type RecordStep<Rec, Desired> =
  | { do: 'look'; at: Look }
  /**
   * Nothing to send: say so. `record`: what was seen of it, to be shown as well; `unseen`: it is not seen now;
   * `gone`: it is proved gone.
   */
  | { do: 'report'; verdict: Verdict; record?: Rec; unseen?: true; gone?: true }
  /** The same, and look for the end of the operation under way. */
  | { do: 'follow'; verdict: Verdict; record: Rec }
  | { do: 'nothing' }
  /** Nothing to say yet: something that takes a moment is under way. */
  | { do: 'await'; recheckAfterMs?: number }
  /** `outcome`: whether a create of that intent can be under way already. */
  | { do: 'writeIntent'; skip: string[]; try: number; outcome: 'unsent' | 'unknown'; desired: Desired }
  | { do: 'create'; intent: CreateIntent; desired: Desired }
  /** `finalizerToo`: a create was refused for certain, and nothing else of ours is on the service. */
  | { do: 'clearIntent'; finalizerToo?: true }
  | { do: 'claim'; id: string }
  /** `former`: what a look at the earlier ones has shown: what is gone once more makes room. */
  | { do: 'forgetId'; why: 'Gone' | 'Ended'; former: FormerSight<Rec> | undefined }
  /** An earlier record is the resource's again. `isChosen`: by the user. */
  | { do: 'takeBack'; back: Seen<Rec>; instead: Rec; isChosen: boolean }
  /** What earlier ones of a resource that is being deleted are there. */
  | { do: 'removeFormer'; sight: FormerSight<Rec> }
  | { do: 'unclaim' }
  /** `former`: what a look at the earlier ones has shown, where there are any. */
  | { do: 'converge'; record: Rec; desired: Desired; former?: FormerSight<Rec> }
  | { do: 'remove'; record: Rec }
  /** Reads do not show it: the answer to a DELETE tells whether it exists. `verdict`: what to say meanwhile. */
  | { do: 'askByDelete'; id: string; verdict: Verdict }
  /** `gone`: its record is proved gone. `lookFor`: the id of one that is looked for once more later. */
  | { do: 'release'; why: string; gone?: true; lookFor?: string };

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
  return decideNew(seen);
}

function decideExisting<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
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
    case 'absent':
      if (seen.observeOnly || seen.paused || seen.onMissing === 'Hold') {
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
      return seen.statusId ? decideForgetting(seen) : { do: 'unclaim' };
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

function paused<Rec, Desired>(seen: RecordObservation<Rec, Desired>, desired: Resolution<Desired>): Verdict {
  return desired.kind === 'ready' && seen.inStep(desired.desired)
    ? { ...verdict('Paused', 'Paused, and as declared'), keepsReady: true }
    : verdict('Paused', 'Paused with a change that waits: take spec.paused away to apply it');
}

/** Nothing is sent: the record is shown as it is. */
function shown<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  said: Verdict,
  record: Rec,
): RecordStep<Rec, Desired> {
  return seen.underway ? { do: 'follow', verdict: said, record } : report(said, record);
}

function decideNew<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  const away = sentElsewhere(seen);
  if (away !== undefined) {
    const way = `remove the annotation ${ANNOTATIONS.createIntent} to have another ${seen.noun} created here`;
    return report(verdict('NeedsUser', `${away}. Point the connection back, or ${way}`));
  }
  if (seen.paused) {
    const said = verdict('Paused', 'Paused: nothing is created until spec.paused is taken away');
    return decideUnderWay(seen, report(said));
  }
  const adopt = wordToAdopt(seen);
  if (adopt !== undefined && seen.intent === undefined) return decideAdoption(seen, adopt);
  if (seen.observeOnly) {
    const said = verdict(
      'WaitingForReference',
      `Nothing to observe yet: name the ${seen.noun} with the annotation boxwright.dev/adopt: <id>`,
    );
    return decideUnderWay(seen, seen.intent === undefined ? report(said) : clearIntent(seen));
  }
  if (seen.intent?.outcome === 'refused') return clearIntent(seen);
  if (adopt !== undefined && seen.intent?.outcome === 'unsent') return { do: 'clearIntent' };
  if (seen.desired === undefined) return { do: 'look', at: 'desired' };
  if (seen.desired.kind === 'waiting') return report(seen.desired.verdict);
  const { desired } = seen.desired;
  const refusal = seen.refusal(desired);
  const mayComeBack = seen.former.some(({ why }) => why === 'Gone');
  if (seen.intent === undefined && refusal !== undefined && !mayComeBack) return report(refusal);
  if (seen.intent?.outcome === 'unsent') {
    if (refusal !== undefined) return report(refusal);
    const { intent } = seen.intent;
    // Nothing is sent that no finalizer guards: it was wiped, or the cluster does not keep it.
    if (seen.hasFinalizer && seen.intentFits(intent, desired)) return { do: 'create', intent, desired };
    return { do: 'writeIntent', skip: intent.skip, try: intent.try, outcome: 'unsent', desired };
  }
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') return report(seen.search.verdict);

  const earlier = seen.intent?.intent;
  const full = (earlier?.skip.length ?? 0) >= MAX_SKIP;
  const found: SearchOutcome =
    seen.search.value.kind === 'terminated' && full ? { kind: 'none' } : seen.search.value;
  const open = seen.intent !== undefined && seen.search.startedAt < seen.intent.concludeFrom;
  const isFormer = (id: string): boolean => seen.former.some((one) => one.id === id);
  switch (found.kind) {
    case 'one':
      // What the create has made may not be listed yet, and would be nobody's.
      return open && isFormer(found.id) ? report(searching(5_000)) : { do: 'claim', id: found.id };
    case 'several': {
      const [made, ...more] = found.ids.filter((id) => !isFormer(id));
      if (made !== undefined && more.length === 0) return { do: 'claim', id: made };
      if (seen.adopt !== undefined && found.ids.includes(seen.adopt)) {
        return { do: 'claim', id: seen.adopt };
      }
      return report(ambiguous(seen.noun, found.ids));
    }
    case 'terminating':
      return report(
        verdict(
          'Creating',
          `Waits for the end of ${seen.noun} ${found.id}, an earlier one of this resource: end it on the service where ` +
            'it hangs',
          found.recheckAfterMs,
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
      if (adopt !== undefined && seen.intent !== undefined && !open) return { do: 'clearIntent' };
      return report(
        verdict(
          'NameTaken',
          `${capital(seen.noun)} ${found.id} has this name already: choose another spec.name, ` +
            `or take it over with the annotation boxwright.dev/adopt: ${found.id}`,
        ),
      );
    case 'none':
      if (seen.intent === undefined) {
        if (refusal !== undefined) return report(lookingForFormer(refusal));
        return { do: 'writeIntent', skip: [], try: 1, outcome: 'unsent', desired };
      }
      if (open) {
        return report(searching(seen.intent.concludeFrom - seen.search.startedAt));
      }
      // What is to be adopted is not created instead.
      if (adopt !== undefined) return { do: 'clearIntent' };
      if (found.unmarked !== undefined) return report(unmarked(seen.noun, found.unmarked));
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

/** What was sent to another service cannot be looked up here. */
function sentElsewhere<Rec, Desired>({ intent, noun }: RecordObservation<Rec, Desired>): string | undefined {
  if (intent?.outcome !== 'unknown' || intent.sentTo === undefined) return undefined;
  return (
    `A create of this resource went to ${intent.sentTo}, and whether it made a ${noun} there is not known; the ` +
    'connection is to another endpoint now'
  );
}

/** Nothing is created any more; what a create that was sent before has made is this resource's all the same. */
function decideUnderWay<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  otherwise: RecordStep<Rec, Desired>,
): RecordStep<Rec, Desired> {
  const { intent, search } = seen;
  if (intent?.outcome !== 'unknown') return otherwise;
  if (search === undefined) return { do: 'look', at: 'search' };
  if (search.kind === 'failed') return report(search.verdict);
  const { value: found, startedAt } = search;
  const isOpen = startedAt < intent.concludeFrom;
  const isFormer = found.kind === 'one' && seen.former.some(({ id }) => id === found.id);
  if (found.kind === 'one' && !(isOpen && isFormer)) return { do: 'claim', id: found.id };
  if (found.kind === 'several') return report(ambiguous(seen.noun, found.ids));
  return isOpen ? report(searching(5_000)) : otherwise;
}

/** The finalizer stays while earlier records are to go with the resource. */
function clearIntent<Rec, Desired>({ former }: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  return { do: 'clearIntent', ...(former.length === 0 ? { finalizerToo: true } : {}) };
}

/** What was adopted before, and is gone or has ended since, is looked for as the earlier record that it is. */
function wordToAdopt<Rec, Desired>({ adopt, former }: RecordObservation<Rec, Desired>): string | undefined {
  return former.some(({ id, why }) => id === adopt && why !== 'Surplus') ? undefined : adopt;
}

/** A create is refused for long, and an earlier record may come back meanwhile. */
function lookingForFormer(refusal: Verdict): Verdict {
  const { recheckAfterMs = Infinity } = refusal;
  return { ...refusal, recheckAfterMs: Math.min(recheckAfterMs, FORMER_LOOK_MS) };
}

function searching(leftMs: number): Verdict {
  return verdict(
    'Creating',
    `The outcome of a create is not known: it is looked for on the service before anything is sent again`,
    Math.min(leftMs, 5_000),
  );
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
          `The ${seen.noun} to adopt, ${id}, is not in the list of workspace "${adoptee.owner}": set spec.owner to the ` +
            `id of the workspace that owns it. Nothing is created instead`,
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

function decideDeletion<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.orphan) return { do: 'release', why: `The ${seen.noun} stays on the service` };
  if (seen.claim.kind === 'conflict' && seen.claim.newer === true) {
    return report(verdict('Conflict', seen.claim.message));
  }
  if ((seen.claim.kind === 'conflict' || seen.rival !== undefined) && seen.intent === undefined) {
    return { do: 'release', why: `The ${seen.noun} is not this resource's` };
  }
  if (seen.users.length > 0) return report(inUse(seen.users));
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
  // An older claimant's record is not this one's to delete, whatever the intent has made.
  if (seen.claim.kind === 'mine' && seen.rival === undefined) {
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
    const { reason, message, recheckAfterMs } = seen.search.verdict;
    return report(
      verdict('Deleting', `${reason}: ${message}. deletionPolicy Orphan lets go`, recheckAfterMs),
    );
  }
  const found = seen.search.value;
  switch (found.kind) {
    case 'one':
      return { do: 'claim', id: found.id };
    case 'several':
      if (seen.adopt !== undefined && found.ids.includes(seen.adopt)) return { do: 'claim', id: seen.adopt };
      return report(ambiguous(seen.noun, found.ids));
    case 'terminating':
      return { do: 'claim', id: found.id };
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
      return letGo(seen, { do: 'release', why: `There is no ${seen.noun} of this resource on the service` });
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
      if (existence.askByDelete !== true || seen.claim.kind !== 'mine') return report(said);
      return { do: 'askByDelete', id: seen.claim.id, verdict: said };
    }
    case 'found':
      return { do: 'remove', record: existence.record };
    default:
      return existence satisfies never;
  }
}

function report<Rec, Desired>(said: Verdict, record?: Rec): RecordStep<Rec, Desired> {
  return record === undefined ? { do: 'report', verdict: said } : { do: 'report', verdict: said, record };
}

function inUse(users: readonly string[]): Verdict {
  const first = users.slice(0, 5).join(', ');
  const more = users.length > 5 ? ` and ${users.length - 5} more` : '';
  return verdict(
    'InUse',
    `Used by ${first}${more}: delete these first; this one then goes by itself`,
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

function unmarked(noun: string, ids: readonly string[]): Verdict {
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

function rivalMessage(rival: string, noun: string): string {
  return (
    `${rival} holds this ${noun}: delete one of the two. The ${noun} stays when this one goes, and goes with the ` +
    'other one, unless that has deletionPolicy Orphan'
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
