import type { Condition } from '../../api/resource.ts';
import type { Random } from '../../base/clock.ts';
import type { Priority } from '../../base/priority.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { AnyRecord, Read, Write } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { Aspect } from './attempts.ts';
import type { CreateIntent } from './identity/intent.ts';
import type { Place } from './identity/seal.ts';
import type { Listing } from './listing.ts';
import type { Memory } from './memory.ts';
import type { ManagedResource } from './resource.ts';
import type { Candidate } from './identity/search.ts';
import type { Verdict } from './status/verdict.ts';

/** What one pass over one resource is about. */
export interface Pass<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>> {
  resource: R;
  memory: M;
  marker: string;
  handle: ConnectionHandle;
  /** Id of the workspace that owns, or shall own, the record. */
  owner: string;
  /** Where the record was found last, as status or a seal that holds says. */
  home: (Place & { account?: string }) | undefined;
  priority: Priority;
  signal: AbortSignal;
  /** Reads of Secrets that began before this mark do not count: what it is about may have come with an edit. */
  secretsAfter: number | undefined;
  /** Wall time in milliseconds, for stamps and for comparing with dates. */
  now: number;
  random: Random;
}

/** Where a pass looks for the record, and makes one. */
export function placeOf({
  handle: { endpoint },
  owner,
}: Pick<Pass<never, never, never>, 'handle' | 'owner'>): Place {
  return { endpoint, owner };
}

/** The status fields that a kind adds or changes; an undefined member takes the field away. */
export type StatusFields<R extends ManagedResource> = {
  [Field in keyof Omit<R['status'], 'conditions' | 'observedGeneration'>]?: R['status'][Field] | undefined;
};

/** What a kind makes of a record that exists and is ours. */
export interface Convergence<R extends ManagedResource> {
  verdict: Verdict;
  fields: StatusFields<R>;
  /**
   * Something was sent or written: look at its outcome at once. `quiet`: what status would say is on its way
   * to something else, so it is not written unless it says something new about the phase.
   */
  again?: boolean;
  quiet?: boolean;
  /** What was seen came from a list, and is acted upon only once it was read singly: read, and look again. */
  afresh?: boolean;
  /** The record has ended for good and another is to be made: let go of its id, then of its claim. */
  renounce?: boolean;
  /** What was sent puts right what somebody else had changed: the declaration is the one that was in place. */
  corrected?: boolean;
}

/** Whether what a resource refers to is there. */
export type Resolution<Desired> = { kind: 'ready'; desired: Desired } | { kind: 'waiting'; verdict: Verdict };

/** A step of a deletion, decided from a fresh record. */
export type RemovalStep<R extends ManagedResource> =
  | { kind: 'send'; how: string; fields?: StatusFields<R> }
  /** Write these status fields, then decide again. */
  | { kind: 'note'; fields: StatusFields<R> }
  /** `quiet`: it is over so soon that nothing needs to be said of it. */
  | { kind: 'wait'; verdict: Verdict; quiet?: boolean }
  /** What is left of the record stays. */
  | { kind: 'release' };

/** Why a record is not adopted. `uncompared`: something to compare it with is not there yet. */
export interface Misfit {
  kind: 'misfit' | 'uncompared';
  why: string;
}

/** What an intent says of the lease that its create carries. */
export type IntentExtras = Pick<CreateIntent, 'expire' | 'lease'>;

/** How one kind of resource maps to its kind of record: what the shared protocols need to know of it. */
export interface RecordKind<
  R extends ManagedResource,
  Rec extends AnyRecord,
  Desired,
  M extends Memory<Rec> = Memory<Rec>,
> {
  readonly type: ResourceType;
  /** Where the records are listed, and how their absence is proved. */
  readonly listing: Listing;
  /** How messages call the record: `box`, `instance`. */
  readonly noun: string;
  /** Status fields that speak of the record alone: they go when it is made again. */
  readonly forgotten: readonly (keyof StatusFields<R>)[];
  /** What status shows of a record that is gone. */
  readonly gone?: StatusFields<R>;
  /** Absent `onMissing` means this. */
  readonly onMissing: 'Recreate' | 'Hold';

  /** How a list entry, or a single representation, looks to a search. */
  candidate(record: Rec, marker: string, finalName: string): Candidate;
  /** Whether a list entry, which may lack parts, shows nothing that calls for reading the record singly. */
  showsNothingNew(entry: Rec, known: Rec): boolean;
  /** The record as a list entry shows it after the operation that `known` shows running; undefined: it tells no such end. */
  ended?(entry: Rec, known: Rec, deleting: boolean): Rec | undefined;
  /** Whether an operation runs whose end {@link RecordKind.ended} tells. */
  runs?(record: Rec): boolean;
  /** What a create of the declaration means, for the ledger of attempts. */
  meant(desired: Desired): string;
  /** Why a record cannot be adopted, or not yet; undefined when it can. */
  misfit(record: Rec, pass: Pass<R, Rec, M>): Misfit | undefined;
  read(handle: ConnectionHandle, id: string, options: ReadOptions): Promise<Read<Rec>>;
  /** Reads references and contents; what is missing is waited for. */
  resolve(pass: Pass<R, Rec, M>): Promise<Resolution<Desired>>;
  /** What is noted in a new intent beyond the protocol's own. */
  intentExtras?(desired: Desired, at: number): IntentExtras;
  /** Annotations that the claim writes besides its own: what of the intent has to be known until status says it. */
  claimExtras?(
    intent: CreateIntent | undefined,
    claimed: { uid: string; record: string },
  ): Record<string, string | null>;
  create(pass: Pass<R, Rec, M>, desired: Desired, intent: CreateIntent): Promise<Write<Rec>>;
  /** Makes the record match; one effect at most. */
  converge(pass: Pass<R, Rec, M>, record: Rec, desired: Desired): Promise<Convergence<R>>;
  /** What status shows of a record that is not seen. */
  readonly unseen?: StatusFields<R>;
  /** What status shows of a record where nothing is sent. */
  observe(pass: Pass<R, Rec, M>, record: Rec): StatusFields<R>;
  /** Looks for the end of the operation that status says is under way, and sends nothing; absent: there are none. */
  follow?(pass: Pass<R, Rec, M>, record: Rec): Promise<Convergence<R>>;
  /** Whether status says that an operation is under way. */
  underway?(resource: R): boolean;
  /** Whether the record has come up, whatever else it lacks: somebody may be using it. */
  isUp(record: Rec, marker: string): boolean;
  /** Whether the record has come to the end that was declared for it; absent: there is none. */
  isOver?(resource: R, desired: Desired): boolean;
  /** Whether what is declared is what was applied last: a paused resource then stays Ready. */
  inStep(resource: R, desired: Desired): boolean;
  /** Who uses the resource: names in its namespace, which hold it, and whether there are others, which do not. */
  users(resource: R): { names: string[]; others: boolean };
  /** What was to be noted in the resource may not be there: another process may have noted the very same, and acted. */
  forgetUnwritten?(memory: M): void;
  /** The aspect that the message of a condition names, and what it says of that; undefined: it names none. */
  aspectIn?(message: string): { aspect: Aspect; said: string } | undefined;
  /** The state that a 409 speaks of. */
  stateOf?(record: Rec): string;
  /** The DELETE that tells whether a record that reads do not show exists, and does no harm if it does. */
  readonly asks: 'delete' | 'terminate';
  /** Whether a delete can have been sent, as far as status shows the record. */
  mayBeDeleted?(resource: R): boolean;
  /** Whether a resource that is being deleted keeps its record all the same, until its user says otherwise. */
  isProtected?(resource: R): boolean;
  /** The next step of a deletion. */
  removal(pass: Pass<R, Rec, M>, record: Rec): Promise<RemovalStep<R>>;
  remove(pass: Pass<R, Rec, M>, id: string, how: string): Promise<Write<Rec | undefined>>;
}

export interface ReadOptions {
  priority: Priority;
  signal: AbortSignal;
}

/** Reads a condition by type. */
export function conditionOf(
  resource: { status: { conditions?: readonly Condition[] | undefined } },
  type: string,
): Condition | undefined {
  return resource.status.conditions?.find((condition) => condition.type === type);
}
