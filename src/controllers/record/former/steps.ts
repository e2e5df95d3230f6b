import { ANNOTATIONS } from '../../../api/names.ts';
import { factsOf } from '../../../api/reasons.ts';
import { rfc3339 } from '../../../base/rfc3339.ts';
import type { AnyRecord } from '../../../service/index.ts';
import type { Claims } from '../claims.ts';
import type { RecordStep } from '../decide/observation.ts';
import { unshown } from '../decide/words.ts';
import type { Outcome } from '../effects.ts';
import { homeOf } from '../home.ts';
import type { Pass, RecordKind, StatusFields } from '../kind.ts';
import type { Memory } from '../memory.ts';
import type { ManagedResource } from '../resource.ts';
import { notSupported } from '../status/gate.ts';
import { verdict, type Verdict } from '../status/verdict.ts';
import type { Formers, FormerSight } from './formers.ts';
import { formerOf, isDecidedBy, takenBack, withFormer, type Former } from './list.ts';

/** What a look after those that are to be removed came to. */
interface Tended {
  isSent: boolean;
  gone: string[];
  /** To be noted before anything else is sent. */
  noted: Former[];
  waits: Verdict | undefined;
}

/** The steps that earlier records of a resource call for. */
export class FormerSteps<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #formers: Formers<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  readonly #forgetMemory: (resource: R) => void;

  constructor(
    kind: RecordKind<R, Rec, Desired, M>,
    formers: Formers<R, Rec, Desired, M>,
    claims: Claims<R>,
    forgetMemory: (resource: R) => void,
  ) {
    this.#kind = kind;
    this.#formers = formers;
    this.#claims = claims;
    this.#forgetMemory = forgetMemory;
  }

  /** Its id stays among the earlier ones, as ours until it is gone. */
  forget(
    pass: Pass<R, Rec, M>,
    { why, former: sight }: Pick<Extract<RecordStep<Rec, Desired>, { do: 'forgetId' }>, 'why' | 'former'>,
  ): Outcome<R> {
    const { resource, now, memory } = pass;
    const { id } = resource.status;
    const { noun, forgotten } = this.#kind;
    const { endpoint, owner } = resource.status.home ?? homeOf(pass);
    const others = formerOf(resource).filter((one) => sight?.gone.includes(one.id) !== true);
    const former =
      id === undefined
        ? [...others]
        : withFormer(others, {
            id,
            endpoint,
            owner,
            why,
            since: rfc3339(now),
            ...this.#claims.sealFormer(resource, id, { endpoint, owner }),
          });
    if (former === undefined) {
      const message =
        `The ${noun} is gone, and so are five earlier ones (${others.map((one) => one.id).join(', ')}), which are not ` +
        'proved gone for good yet: no other is made before one of them is';
      // Proofs that have been begun are brought to their end; what stands in the way for long is looked at slowly.
      const slowly = memory.attempts.missed('read', 'former', verdict('NeedsUser', message));
      const soon = sight?.recheckAfterMs ?? Infinity;
      return {
        wish: { verdict: soon === Infinity ? slowly : { ...slowly, recheckAfterMs: soon }, fields: {} },
      };
    }
    const said =
      memory.created === id
        ? unshown(noun)
        : verdict('Creating', `The ${noun} was deleted on the service: it is made again`);
    // Noted before it is let go of, so that a definition that does not know the field loses neither.
    const isNoted = formerOf(resource).some((one) => one.id === id);
    const left = isNoted ? ['id', 'uri', 'home', ...forgotten] : [];
    const fields = {
      ...Object.fromEntries(left.map((field) => [field, undefined])),
      former: former.length === 0 ? undefined : former,
    } as StatusFields<R>;
    return { wish: { verdict: said, fields }, again: true };
  }

  /** In one write, so that whoever comes after a crash finds the one or the other; the claim follows status. */
  takeBack(
    pass: Pass<R, Rec, M>,
    { back, instead, isChosen }: Extract<RecordStep<Rec, Desired>, { do: 'takeBack' }>,
  ): Outcome<R> {
    const { resource, now, handle } = pass;
    const { noun, forgotten, type } = this.#kind;
    const { id, endpoint, owner } = back.former;
    const other = { ...homeOf(pass), id: instead.id };
    const former = takenBack(formerOf(resource), {
      id,
      instead: {
        id: other.id,
        endpoint: other.endpoint,
        owner: other.owner,
        ...this.#claims.sealFormer(resource, other.id, other),
      },
      isChosen,
      now,
    });
    const home = { endpoint, owner, ...(handle.account === undefined ? {} : { account: handle.account }) };
    const fields = {
      ...Object.fromEntries(forgotten.map((field) => [field, undefined])),
      id,
      uri: back.record.uri,
      home,
      former,
    } as StatusFields<R>;
    const unfit = notSupported(type.kind, fields);
    if (unfit !== undefined) return { wish: { verdict: unfit, fields: {} } };
    // What is remembered speaks of the other record.
    this.#forgetMemory(resource);
    const said = verdict('Updating', `The ${noun} ${id} is there again: it is taken back`);
    return { wish: { verdict: said, fields }, again: true };
  }

  /** One step of removing earlier records of a resource that stays. What waits keeps nothing else back. */
  async tend(pass: Pass<R, Rec, M>, { due }: FormerSight<Rec>): Promise<Tended> {
    const tended: Tended = { isSent: false, gone: [], noted: [], waits: undefined };
    for (const one of due) {
      const step = await this.#formers.remove(pass, one);
      switch (step.kind) {
        case 'sent':
          return { ...tended, isSent: true };
        case 'note':
          tended.noted.push(step.former);
          break;
        case 'gone':
          tended.gone.push(one.former.id);
          break;
        case 'waits':
          tended.waits ??= step.verdict;
          break;
        default:
          return step satisfies never;
      }
    }
    return tended;
  }

  /** The same for one that is being deleted. */
  async remove(pass: Pass<R, Rec, M>, sight: FormerSight<Rec>): Promise<Outcome<R>> {
    const { isSent, gone, noted, waits } = await this.tend(pass, sight);
    if (isSent) return { again: true, quiet: true };
    const left = formerOf(pass.resource)
      .filter(({ id }) => !gone.includes(id) && !sight.gone.includes(id))
      .map((one) => noted.find(({ id }) => id === one.id) ?? one);
    const fields = { former: left.length === 0 ? undefined : left } as StatusFields<R>;
    const ids = sight.due.map(({ former }) => former.id).join(', ');
    const said = verdict('Deleting', `Earlier records of this resource are being deleted: ${ids}`);
    return {
      wish: { verdict: { ...(waits ?? said), reason: 'Deleting' }, fields },
      again: gone.length + noted.length > 0,
    };
  }

  /** What to say of a record that is as declared while an earlier one is there again, and when to look again. */
  beside(
    { resource }: Pass<R, Rec, M>,
    said: Verdict,
    sight: FormerSight<Rec> | undefined,
    waits: Verdict | undefined,
  ): Verdict {
    if (sight === undefined) return said;
    const again = [...sight.again, ...sight.back].map(({ former }) => former);
    const adopt = resource.metadata.annotations?.[ANNOTATIONS.adopt];
    const open = again.filter((one) => !(isDecidedBy(one, adopt) && adopt === resource.status.id));
    const recheckAfterMs = Math.min(
      said.recheckAfterMs ?? Infinity,
      sight.recheckAfterMs,
      waits?.recheckAfterMs ?? Infinity,
    );
    const soon = recheckAfterMs === Infinity ? {} : { recheckAfterMs };
    if (factsOf(said.reason).ready !== 'True') return { ...said, ...soon };
    const { noun } = this.#kind;
    if (open.length === 0) {
      const ids = sight.due.map(({ former }) => former.id).join(', ');
      const message = `${said.message}. Given up for it, and being removed: ${noun} ${ids}`;
      return waits === undefined
        ? { ...said, ...soon }
        : { ...said, ...soon, message: `${message} (${waits.message})` };
    }
    const message =
      `An earlier ${noun} is there again: ${open.map(({ id }) => id).join(', ')}, beside ${resource.status.id}, which was ` +
      `made in its place. Nothing is removed: set the annotation ${ANNOTATIONS.adopt} anew, to the id of the one to ` +
      'keep, and the other one goes by deletionPolicy';
    return { ...said, reason: 'Ambiguous', message, ...soon };
  }
}
