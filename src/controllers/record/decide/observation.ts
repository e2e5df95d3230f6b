import type { Rival } from '../claims.ts';
import type { Existence } from '../existence.ts';
import type { FormerSight, Seen } from '../former/formers.ts';
import type { Former } from '../former/list.ts';
import type { ClaimJudgement } from '../identity/claim.ts';
import type { CreateIntent } from '../identity/intent.ts';
import type { SearchOutcome } from '../identity/search.ts';
import type { Resolution } from '../kind.ts';
import type { Adoptee } from '../looks/adoption.ts';
import type { Looked } from '../looks/looked.ts';
import type { SentOutcome } from '../memory.ts';
import type { Verdict } from '../status/verdict.ts';

/**
 * What is known in a pass. The parts that cost a call are absent until `decideRecord` asks for them
 * with a `look`; it is then asked again.
 */
export interface RecordObservation<Rec, Desired> {
  noun: string;
  /** The kind, as kubectl takes it. */
  plural: string;
  deleting: boolean;
  hasFinalizer: boolean;
  /** Policy Orphan, or management Observe: the record is never deleted. */
  orphan: boolean;
  observeOnly: boolean;
  paused: boolean;
  /** The record stays as long as its user does not say otherwise, though the resource is being deleted. */
  isProtected: boolean;
  /** Status says that an operation is under way: its end is looked for, whatever else has to wait. */
  underway: boolean;
  /** Why the installation id needs confirming. */
  unconfirmed: string | undefined;
  claim: ClaimJudgement;
  /** `status.id` is there. */
  statusId: boolean;
  /** The resource here that comes before this one for the record; `record`: as it was read, where it was. */
  rival: (record: Rec | undefined) => Rival | undefined;
  /** Whether the record carries the resource's marker; undefined: it does not show. */
  isMarked: (record: Rec) => boolean | undefined;
  /** An administrator's word for this start: what this installation may have claimed counts where nothing says otherwise. */
  restore: boolean;
  /** The installation's id was given by hand, and its key is not here: another cluster may have made what carries markers. */
  isBorrowed: boolean;
  adopt: string | undefined;
  /** Earlier records, as status names them. */
  former: readonly Former[];
  connection:
    | { kind: 'ready' }
    /** It is being looked at for the first time, which takes a moment. */
    | { kind: 'pending' }
    | { kind: 'waiting'; message: string; usable: boolean; credentialsMissing: boolean };
  /** The record that a create of this process was answered with, as long as no read has shown it. */
  created: string | undefined;
  intent:
    | {
        intent: CreateIntent;
        outcome: SentOutcome;
        concludeFrom: number;
        /** The same for a list that shows nothing, though resources here hold records of that owner. */
        concludeFromBare: number;
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
  /** Why no other is made now in the place of one that is gone: that was done again and again. */
  recreation: () => Verdict | undefined;
  /** Whether what is declared is what was applied last. */
  inStep: (desired: Desired) => boolean;

  desired?: Resolution<Desired>;
  search?: Looked<SearchOutcome>;
  existence?: Looked<Existence<Rec>>;
  adoptee?: Looked<Adoptee<Rec>>;
  restored?: Looked<Adoptee<Rec>>;
  formerSeen?: FormerSight<Rec>;
}

/** The parts of an observation that cost calls. */
export type Look = 'desired' | 'search' | 'existence' | 'adoptee' | 'restored' | 'former';

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
  /** The record may be this resource's: a deletion has to come by here. */
  | { do: 'guard' }
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
  /** Write into status which record the resource claims, before anything is done about it. */
  | { do: 'noteId'; id: string }
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

/** Nothing is to be done but to say so. */
export function report<Rec, Desired>(said: Verdict, record?: Rec): RecordStep<Rec, Desired> {
  return record === undefined ? { do: 'report', verdict: said } : { do: 'report', verdict: said, record };
}

export function foundRecord<Rec, Desired>({ existence }: RecordObservation<Rec, Desired>): Rec | undefined {
  return existence?.kind === 'seen' && existence.value.kind === 'found' ? existence.value.record : undefined;
}
