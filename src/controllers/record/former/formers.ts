import { isMarker } from '../../../api/schema/rules.ts';
import type { AnyRecord } from '../../../service/index.ts';
import type { Claims, Marked } from '../claims.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { ExistenceLooks } from '../looks/existence.ts';
import { SHARED_LIST_AGE_MS } from '../looks/looked.ts';
import type { Memory } from '../memory.ts';
import { policiesOf } from '../policies.ts';
import { finalNameOf, type ManagedResource } from '../resource.ts';
import { sendDeletion, type Deletion } from '../send-deletion.ts';
import { verdict, type Verdict } from '../status/verdict.ts';
import { formerOf, isFull, type Former } from './list.ts';

/** What has not come back for so long after it was replaced is proved gone once more, and forgotten, milliseconds. */
const KEPT_MS = 24 * 3_600_000;

/** An earlier record that is there. */
export interface Seen<Rec> {
  former: Former;
  record: Rec;
}

/** What a look at the earlier records of a resource has shown. */
export interface FormerSight<Rec> {
  /** Proved gone, and there again while what was made in its place was never Ready. */
  back: readonly Seen<Rec>[];
  /** There again after another had taken its place. */
  again: readonly Seen<Rec>[];
  /** To be removed. */
  due: readonly Seen<Rec>[];
  /** Ids of which nothing is left, or which nothing proves to be this resource's. */
  gone: readonly string[];
  /** What is not known yet, and must be before the resource goes. */
  open: Verdict | undefined;
  /** When to look again, milliseconds; Infinity: whenever the resource is looked at. */
  recheckAfterMs: number;
}

/** What a step of removing an earlier record came to. */
export type FormerRemoval =
  | Deletion
  /** There is nothing to remove, or it is to stay as it is. */
  | { kind: 'gone' }
  /** To be noted before anything is sent. */
  | { kind: 'note'; former: Former };

/**
 * Looks at the earlier records of a resource, and removes those that are to go. Each is looked at and removed by the
 * very rules of the resource's own record, with a memory of its own.
 */
export class Formers<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #existence: ExistenceLooks<R, Rec, Desired, M>;
  readonly #memoryOf: (resource: R, id: string) => M;
  readonly #claims: Claims<R>;

  constructor(
    kind: RecordKind<R, Rec, Desired, M>,
    existence: ExistenceLooks<R, Rec, Desired, M>,
    options: {
      memoryOf: (resource: R, id: string) => M;
      claims: Claims<R>;
    },
  ) {
    this.#kind = kind;
    this.#existence = existence;
    this.#memoryOf = options.memoryOf;
    this.#claims = options.claims;
  }

  /** Looks at all of them. A list tells whether one is there again; what is to go is read singly, whatever lists say. */
  async look(pass: Pass<R, Rec, M>): Promise<FormerSight<Rec>> {
    const { resource } = pass;
    const sight = { back: [], again: [], due: [], gone: [] } as {
      [Name in 'back' | 'again' | 'due']: Seen<Rec>[];
    } & { gone: string[] };
    let open: Verdict | undefined;
    let recheckAfterMs = Infinity;
    const claim = this.#claims.judge(resource);
    const claimed = claim.kind === 'mine' ? claim.id : undefined;
    for (const former of formerOf(resource)) {
      // The record that it has again is none of the earlier ones: status says so soon.
      if (former.id === claimed && resource.status.id === undefined) continue;
      // Another service knows nothing of it, and what another resource here holds is that one's business.
      if (former.endpoint !== pass.handle.endpoint) continue;
      const found =
        former.id === resource.status.id || this.#claims.holder(former, resource) !== undefined
          ? ({ kind: 'gone' } as const)
          : await this.#lookAt(pass, former);
      if (found.kind === 'gone') sight.gone.push(former.id);
      if (found.kind === 'seen') sight[found.as].push({ former, record: found.record });
      if (found.kind === 'open') {
        open ??= found.verdict;
        recheckAfterMs = Math.min(recheckAfterMs, found.verdict.recheckAfterMs ?? Infinity);
      }
      if (found.kind === 'unseen') recheckAfterMs = Math.min(recheckAfterMs, againIn(former, pass));
    }
    return { ...sight, open, recheckAfterMs };
  }

  /** One step of removing what a look has found to be removed. */
  async remove(pass: Pass<R, Rec, M>, { former, record }: Seen<Rec>): Promise<FormerRemoval> {
    const its = this.#passFor(pass, former, true);
    const step = await this.#kind.removal(its, record);
    switch (step.kind) {
      case 'release':
        return { kind: 'gone' };
      case 'wait':
        return { kind: 'waits', verdict: step.verdict };
      case 'note': {
        const { terminateTries } = step.fields as { terminateTries?: number };
        return {
          kind: 'note',
          former: { ...former, ...(terminateTries === undefined ? {} : { terminateTries }) },
        };
      }
      case 'send':
        break;
      default:
        return step satisfies never;
    }
    const what = `An earlier ${this.#kind.noun}, ${former.id},`;
    return sendDeletion(this.#kind, its, {
      record,
      how: step.how,
      waits: `${what} is being deleted`,
      notYet: `${what} is not deleted yet`,
    });
  }

  async #lookAt(
    pass: Pass<R, Rec, M>,
    former: Former,
  ): Promise<
    | { kind: 'gone' | 'unseen' }
    | { kind: 'seen'; as: 'back' | 'again' | 'due'; record: Rec }
    | { kind: 'open'; verdict: Verdict }
  > {
    const { resource, handle } = pass;
    const { noun } = this.#kind;
    const isDeleting = resource.metadata.deletionTimestamp !== undefined;
    // Whoever chose leaves the other one to deletionPolicy.
    const isLeft =
      former.replacedAt !== undefined && policiesOf(resource, handle, 'Hold').deletion === 'Orphan';
    if (former.why === 'Surplus' && isLeft && !isDeleting) return { kind: 'gone' };
    const isDue = isDeleting || former.why === 'Surplus';
    const { listing } = this.#kind;
    const list = await handle.client.shared.list(listing.family, listing.at(former.owner), {
      maxAgeMs: SHARED_LIST_AGE_MS,
      priority: pass.priority,
      signal: pass.signal,
    });
    const finalName = finalNameOf(resource);
    const entry = list.kind === 'found' ? list.record.find(({ id }) => id === former.id) : undefined;
    const isListed = entry !== undefined;
    if (!isDue && !isListed && !isToBeForgotten(former, pass)) return { kind: 'unseen' };
    // The family of the list decides what its entries are; TypeScript cannot tie the two type parameters.
    const listed = entry as unknown as Rec | undefined;
    const isOver =
      listed !== undefined && this.#kind.candidate(listed, pass.marker, finalName).ending !== undefined;
    if (!isDue && isOver) return { kind: 'unseen' };
    const its = this.#passFor(pass, former, isDue);
    const existence = await this.#existence.look(its, former.id);
    if (existence.kind === 'failed') {
      // What cannot be an id is none of ours.
      if (existence.code === 'BadId') return { kind: 'gone' };
      const { message, recheckAfterMs } = existence.verdict;
      const said = `An earlier ${noun}, ${former.id}, is not known to be gone: ${message}. deletionPolicy Orphan lets go`;
      return { kind: 'open', verdict: verdict('Deleting', said, recheckAfterMs) };
    }
    const { value } = existence;
    switch (value.kind) {
      case 'absent':
        return { kind: 'gone' };
      case 'unproved': {
        // It was proved gone before: one look that agrees is enough for letting go.
        if (isDeleting && former.why === 'Gone' && value.counts) return { kind: 'gone' };
        const said = `An earlier ${noun}, ${former.id}, is not seen any more, which proves nothing yet: it is looked at again`;
        return { kind: 'open', verdict: verdict('Deleting', said, value.recheckAfterMs) };
      }
      case 'found':
        break;
      default:
        return value satisfies never;
    }
    const { record } = value;
    const { marked, named, ending } = this.#kind.candidate(record, pass.marker, finalName);
    // Status alone makes no record ours: it carries the marker, or the name that only one of its owner's can have.
    const isNamesake = named && isListed && this.#kind.misfit(record, its) === undefined;
    // Or a claim of ours was sealed for it, and nobody has marked it since.
    const isSealed = this.#claims.holdsFormer(resource, former) && !hasForeignMark(record, pass.marker);
    if (marked !== true && !isNamesake && !isSealed)
      return { kind: marked === undefined ? 'unseen' : 'gone' };
    if (isDue) return { kind: 'seen', as: 'due', record };
    if (ending !== undefined) return { kind: 'unseen' };
    const isBack = former.why === 'Gone' && former.replacedAt === undefined;
    return { kind: 'seen', as: isBack ? 'back' : 'again', record };
  }

  /** A pass over the earlier record as if it were the resource's own. */
  #passFor(pass: Pass<R, Rec, M>, former: Former, isToGo: boolean): Pass<R, Rec, M> {
    const { resource } = pass;
    const { id, endpoint, owner, terminateTries, since } = former;
    const { observedGeneration, policies, home } = resource.status;
    const account = home?.endpoint === endpoint ? home.account : undefined;
    const deletionTimestamp = resource.metadata.deletionTimestamp ?? (isToGo ? since : undefined);
    const status = {
      observedGeneration,
      policies,
      id,
      home: { endpoint, owner, ...(account === undefined ? {} : { account }) },
      terminateTries,
    };
    const { deletionTimestamp: _own, ...metadata } = resource.metadata;
    return {
      ...pass,
      resource: {
        ...resource,
        metadata: { ...metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
        status,
      },
      memory: this.#memoryOf(resource, id),
      owner,
      home: status.home,
    };
  }
}

/** Whether a record carries a marker, and none of them is this resource's. */
function hasForeignMark(record: AnyRecord, marker: string): boolean {
  const { name, tags } = record as Marked;
  const marks = [name, ...(Array.isArray(tags) ? (tags as unknown[]) : [])].filter(isMarker);
  return marks.length > 0 && !marks.includes(marker);
}

/** Whether it is time to prove once more that it is gone. */
function isToBeForgotten(
  former: Former,
  { resource, now }: Pass<ManagedResource, AnyRecord, Memory>,
): boolean {
  if (isFull(formerOf(resource))) return true;
  const since = former.why === 'Gone' ? former.replacedAt : former.since;
  return since !== undefined && now - Date.parse(former.seenAt ?? since) >= KEPT_MS;
}

/** What may still be taken back is looked for soon after it was lost, then less and less often, milliseconds. */
function againIn(former: Former, { handle, now }: Pass<ManagedResource, AnyRecord, Memory>): number {
  if (former.why !== 'Gone' || former.replacedAt !== undefined) return Infinity;
  const { lagWindowMs, settledMs } = handle.poll;
  const age = now - Date.parse(former.since);
  return Math.min(Math.max(age / 4, lagWindowMs / 4), settledMs);
}
