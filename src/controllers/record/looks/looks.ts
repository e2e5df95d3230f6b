import type { Clock } from '../../../base/clock.ts';
import type { AnyRecord } from '../../../service/index.ts';
import type { Claims } from '../claims.ts';
import type { Look, RecordObservation } from '../decide/observation.ts';
import type { Formers } from '../former/formers.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { Memory } from '../memory.ts';
import { finalNameOf, type ManagedResource } from '../resource.ts';
import { AdoptionLooks } from './adoption.ts';
import type { ExistenceLooks } from './existence.ts';
import { MarkerLooks } from './marker.ts';

/** What looks need beside their kind. */
interface Needs<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  claims: Claims<R>;
  existence: ExistenceLooks<R, Rec, Desired, M>;
  formers: Formers<R, Rec, Desired, M>;
  /** What a create for a marker has made, or may have, a while ago. */
  made: (marker: string, now: number) => { id: string | undefined; at: number } | undefined;
  /** Forgets what is known of all earlier records of a resource but these. */
  keepFormer: (resource: R, ids: ReadonlySet<string>) => void;
  /** How many records of an owner resources here hold, in the list of this kind. */
  held: (owner: string, endpoint: string) => number;
  clock: Clock;
}

/** The calls that the observation of a pass is made of, for one kind. */
export class Looks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #needs: Needs<R, Rec, Desired, M>;
  readonly #adoption: AdoptionLooks<R, Rec, Desired, M>;
  readonly #marked: MarkerLooks<R, Rec, Desired, M>;

  constructor(kind: RecordKind<R, Rec, Desired, M>, needs: Needs<R, Rec, Desired, M>) {
    this.#kind = kind;
    this.#needs = needs;
    this.#adoption = new AdoptionLooks(kind, needs.claims);
    this.#marked = new MarkerLooks(kind, needs.claims);
  }

  /** What {@link decideRecord} wants to know next. */
  async look(
    at: Look,
    seen: RecordObservation<Rec, Desired>,
    pass: Pass<R, Rec, M>,
  ): Promise<Partial<RecordObservation<Rec, Desired>>> {
    const { existence, formers, keepFormer } = this.#needs;
    switch (at) {
      case 'desired':
        return { desired: await this.#kind.resolve(pass) };
      case 'existence':
        return { existence: await existence.look(pass, claimedId(seen)) };
      case 'adoptee':
        return { adoptee: await this.#adoption.adoptee(pass, seen.adopt ?? '') };
      case 'restored':
        return {
          restored: await this.#adoption.restored(pass, claimedId(seen), finalNameOf(pass.resource)),
        };
      case 'former':
        keepFormer(pass.resource, new Set(seen.former.map(({ id }) => id)));
        return { formerSeen: await formers.look(pass) };
      case 'search':
        return { search: await this.#search(seen, pass) };
      default:
        return at satisfies never;
    }
  }

  #search(
    seen: RecordObservation<Rec, Desired>,
    pass: Pass<R, Rec, M>,
  ): Promise<NonNullable<RecordObservation<Rec, Desired>['search']>> {
    const { clock } = this.#needs;
    const now = clock.monotonic();
    const { intent } = seen;
    const made = this.#needs.made(pass.marker, now);
    // A "none" counts only from a list that began late enough; a find counts from any.
    const notBefore =
      intent === undefined || intent.outcome !== 'unknown'
        ? seen.deleting
          ? pass.handle.client.stamp()
          : Math.max(pass.memory.firstSeenAt, made?.at ?? -Infinity)
        : now >= intent.concludeFrom
          ? intent.concludeFrom
          : pass.handle.client.stamp();
    const { handle, owner } = pass;
    const isOpen = intent?.outcome === 'unknown' && now < intent.concludeFromBare;
    return this.#marked.look(pass, {
      mayBeBare: !isOpen || this.#needs.held(owner, handle.endpoint) === 0,
      finalName: finalNameOf(pass.resource),
      intent: intent?.intent,
      notBefore,
      made: made?.id,
      former: formerInSearch(seen, pass),
    });
  }
}

function claimedId({ claim }: Pick<RecordObservation<never, never>, 'claim'>): string {
  return 'id' in claim ? (claim.id ?? '') : '';
}

/** How a search takes the earlier records: those that are removed by their ids are none of its candidates. */
function formerInSearch(
  { former, deleting }: Pick<RecordObservation<never, never>, 'former' | 'deleting'>,
  { handle, owner }: Pass<ManagedResource, AnyRecord, Memory>,
): { back: string[]; skip: string[] } {
  const here = former.filter((one) => one.endpoint === handle.endpoint && one.owner === owner);
  const back = deleting ? [] : here.filter(({ why }) => why === 'Gone');
  const skip = deleting ? here : here.filter(({ why }) => why === 'Surplus');
  return { back: back.map(({ id }) => id), skip: skip.map(({ id }) => id) };
}
