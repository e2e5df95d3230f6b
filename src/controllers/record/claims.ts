import { ANNOTATIONS } from '../../api/names.ts';
import type { OperatorContext } from '../context.ts';
import { formerOf, type Former } from './former/list.ts';
import { judgeClaim, type Claimant, type ClaimJudgement } from './identity/claim.ts';
import type { IntentSeal } from './identity/intent.ts';
import { markerOf, markersOn } from './identity/marker.ts';
import { rankOf, standing, type Contender, type Disputed } from './identity/rank.ts';
import type { Place, SealReading } from './identity/seal.ts';
import type { ManagedResource, ResourceCache } from './resource.ts';

/** What the seal of an intent is for. */
const INTENT = 'create-intent';

/** What the seal of an earlier record in status is for. */
const FORMER = 'former';

/** A resource that comes before another for the record that both want. */
export interface Rival {
  /** In words: whoever reads them may know nothing of other namespaces. */
  name: string;
  /** They rank alike as far as is known: what the record carries may tell otherwise. */
  isTie: boolean;
  /** It holds the record by its own status and by a seal, and stays. */
  isBeyondDoubt: boolean;
}

/** What of a record tells whose it is. */
export interface Marked {
  name?: string | undefined;
  tags?: unknown;
}

/** Who has which record, for one kind: what the claims on resources say, and who comes first where several say the same. */
export class Claims<R extends ManagedResource> {
  readonly #context: Pick<OperatorContext, 'installation' | 'seals'>;
  readonly #kind: string;
  readonly #cache: ResourceCache<R>;
  /** What hashes tell of a version of a resource: anybody may write claims, and of one record ten thousands. */
  readonly #known = new WeakMap<R, { claimant: Claimant; seal?: SealReading }>();

  constructor(
    context: Pick<OperatorContext, 'installation' | 'seals'>,
    kind: string,
    cache: ResourceCache<R>,
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#cache = cache;
  }

  /** Reads the seal of a version of a resource once and for all, so that no look at others has to read many. */
  read(resource: R): void {
    this.#readingOf(resource);
  }

  #readingOf(resource: R): SealReading {
    const known = this.#knownOf(resource);
    if (known.seal === undefined) this.judge(resource);
    return (known.seal ??= { kind: 'false' });
  }

  claimant(resource: R): Claimant {
    return this.#knownOf(resource).claimant;
  }

  #knownOf(resource: R): { claimant: Claimant; seal?: SealReading } {
    const known = this.#known.get(resource) ?? { claimant: this.#claimantOf(resource) };
    this.#known.set(resource, known);
    return known;
  }

  #claimantOf({ metadata }: R): Claimant {
    const { namespace, name, uid } = metadata;
    const installationId = this.#context.installation.id;
    const kind = this.#kind;
    return {
      installationId,
      kind,
      namespace,
      name,
      uid,
      marker: markerOf(installationId, { kind, namespace, name }),
    };
  }

  /** Seals the create-intents of a resource. */
  intents(resource: R): IntentSeal {
    const claimant = this.claimant(resource);
    const { seals } = this.#context;
    return {
      uid: claimant.uid,
      make: (body) => seals.note(INTENT, claimant, body),
      holds: (seal, body) => seals.holdsNote(seal, INTENT, claimant, body),
    };
  }

  /** The seal by which a record that this resource has by a sealed claim is known as its own later. */
  sealFormer(resource: R, id: string, place: Place): Pick<Former, 'seal'> {
    const claim = this.judge(resource);
    if (claim.kind !== 'mine' || claim.id !== id || claim.seal === undefined) return {};
    return { seal: this.#context.seals.note(FORMER, this.claimant(resource), formerText({ id, ...place })) };
  }

  /** Whether the operator itself has noted that an earlier record was this resource's. */
  holdsFormer(resource: R, former: Former): boolean {
    const { seal = '' } = former;
    return this.#context.seals.holdsNote(seal, FORMER, this.claimant(resource), formerText(former));
  }

  judge(resource: R): ClaimJudgement {
    const known = this.#knownOf(resource);
    return judgeClaim(
      {
        annotations: resource.metadata.annotations,
        statusId: resource.status.id,
        former: formerOf(resource).map(({ id }) => id),
      },
      known.claimant,
      (seal, of, id) => (known.seal ??= this.#context.seals.readClaim(seal, of, id)),
      (uid) => this.#cache.isLiving(uid),
    );
  }

  /** Another resource that has the record, the first of them. `record`: as it was read, where it was. */
  holder(disputed: Disputed, except: R, record?: Marked): R | undefined {
    const [first, ...others] = this.#others(disputed, except, record);
    return others.reduce(
      (best, other) => (standing(other.as, best.as, disputed).isFirst ? other : best),
      first as Other<R>,
    )?.resource;
  }

  /** Another resource that comes before this one. */
  rival(disputed: Disputed, resource: R, record?: Marked): Rival | undefined {
    const own = this.#contender(resource, record);
    for (const other of this.#others(disputed, resource, record)) {
      const { isFirst, isTie } = standing(other.as, own, disputed);
      if (!isFirst) continue;
      const isBeyondDoubt =
        other.resource.metadata.deletionTimestamp === undefined &&
        rankOf(other.as, disputed) === 'status' &&
        other.as.seal?.id === disputed.id;
      return {
        name: this.nameOf(other.resource, resource),
        isTie: isTie && record === undefined,
        isBeyondDoubt,
      };
    }
    return undefined;
  }

  /** For messages: whoever reads them may know nothing of other namespaces. */
  nameOf(other: R, reader: R): string {
    const here = other.metadata.namespace === reader.metadata.namespace;
    return here ? `${this.#kind} "${other.metadata.name}"` : `Another ${this.#kind}, of another namespace,`;
  }

  /** Where the record of a resource is, as status or a seal that holds says. */
  static homeOf(
    { status }: ManagedResource,
    claim: ClaimJudgement,
  ): (Place & { account?: string }) | undefined {
    if (status.home !== undefined) return status.home;
    if (claim.kind !== 'mine' || claim.seal === undefined) return undefined;
    const { endpoint, owner } = claim.seal;
    return { endpoint, owner };
  }

  #others(disputed: Disputed, except: R, record: Marked | undefined): Other<R>[] {
    const marked =
      record === undefined
        ? []
        : markersOn(textsOf(record), this.#context.installation.id).flatMap((own) => this.#cache.marked(own));
    const claiming = this.#cache.claimants(disputed.id).filter((other) => this.#mayCount(other, disputed));
    return [...new Set([...claiming, ...marked])]
      .filter((other) => other.metadata.uid !== except.metadata.uid)
      .map((resource) => ({ resource, as: this.#contender(resource, record) }))
      .filter(({ as }) => rankOf(as, disputed) !== 'nothing');
  }

  /** Nothing but status, and a seal that holds, makes a claim count. */
  #mayCount(other: R, { id }: Disputed): boolean {
    return other.status.id === id || this.#readingOf(other).kind === 'holds';
  }

  #contender(resource: R, record: Marked | undefined): Contender {
    const { metadata, status } = resource;
    const claim = this.judge(resource);
    const id = metadata.annotations?.[ANNOTATIONS.externalId];
    const seal = claim.kind === 'mine' ? claim.seal : undefined;
    return {
      metadata,
      status: {
        ...(status.id === undefined ? {} : { id: status.id }),
        ...(status.home === undefined ? {} : { home: status.home }),
      },
      seal: seal === undefined || id === undefined ? undefined : { id, ...seal },
      isMarked: record === undefined ? undefined : textsOf(record).includes(this.claimant(resource).marker),
    };
  }
}

interface Other<R> {
  resource: R;
  as: Contender;
}

/** What of a record can be a marker: its name, or a tag. */
function textsOf({ name, tags }: Marked): unknown[] {
  return [name, ...(Array.isArray(tags) ? tags : [])];
}

function formerText({ id, endpoint, owner }: { id: string } & Place): string {
  return JSON.stringify([id, endpoint, owner]);
}
