import { parseTimestamp, type AnyRecord, type ServiceError } from '../../../service/index.ts';
import type { Claims } from '../claims.ts';
import type { CreateIntent } from '../identity/intent.ts';
import { searchByMarker, type SearchOutcome } from '../identity/search.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { Memory } from '../memory.ts';
import type { ManagedResource } from '../resource.ts';
import { verdict } from '../status/verdict.ts';
import { failed, failedRead, SHARED_LIST_AGE_MS, type Failed, type Looked } from './looked.ts';

/** The service's clock and ours may differ by so much unnoticed, milliseconds. */
const CLOCKS_APART_MS = 60_000;

/** Looks for the record that carries a resource's marker. */
export class MarkerLooks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;

  constructor(kind: RecordKind<R, Rec, Desired, M>, claims: Claims<R>) {
    this.#kind = kind;
    this.#claims = claims;
  }

  /** Looks for the record that carries the marker. */
  async look(
    pass: Pass<R, Rec, M>,
    options: {
      finalName: string;
      intent: CreateIntent | undefined;
      notBefore: number | undefined;
      /** Whether a list that shows nothing at all is believed. */
      mayBeBare: boolean;
      /** What a create for the marker has made a while ago: lists may not show it yet. */
      made: string | undefined;
      /** Earlier records of the resource that may come back, and those that are none of its candidates. */
      former: { back: readonly string[]; skip: readonly string[] };
    },
  ): Promise<Looked<SearchOutcome>> {
    const { handle, owner, marker } = pass;
    const { listing } = this.#kind;
    const list = await handle.client.shared.list(listing.family, listing.at(owner), {
      ...(options.notBefore === undefined
        ? { maxAgeMs: SHARED_LIST_AGE_MS }
        : { notBefore: options.notBefore, maxAgeMs: SHARED_LIST_AGE_MS }),
      priority: pass.priority,
      signal: pass.signal,
    });
    if (list.kind === 'missing') {
      const problem = await listing.problem(pass);
      return problem === undefined
        ? failedRead(list, pass, listing.missing)
        : { kind: 'failed', verdict: problem };
    }
    if (list.kind !== 'found') return failedRead(list, pass, listing.missing);
    const blind = await listing.blind(pass);
    if (blind !== undefined) return blind;
    // The family of the list decides what its entries are; TypeScript cannot tie the two type parameters.
    const entries = list.record as unknown as readonly Rec[];
    const { made, former } = options;
    const listed = entries.map((entry) => this.#kind.candidate(entry, marker, options.finalName));
    // What is known by its id is read singly, whatever a list that trails shows of it.
    const known = new Set([...(made === undefined ? [] : [made]), ...former.back]);
    const candidates = [
      ...listed.map((entry) => (known.has(entry.id) ? { ...entry, marked: undefined } : entry)),
      ...[...known]
        .filter((id) => !listed.some((entry) => entry.id === id))
        .map((id) => ({ id, marked: undefined, named: true })),
    ];
    const marked = new Set(candidates.filter((entry) => entry.marked === true).map(({ id }) => id));
    let unread: ServiceError | undefined;
    const outcome = await searchByMarker({
      candidates,
      skip: [...(options.intent?.skip ?? []), ...former.skip],
      isClaimed: (id) => this.#claims.holder({ id, endpoint: handle.endpoint }, pass.resource) !== undefined,
      read: async (id) => {
        const read = await this.#kind.read(handle, id, { priority: pass.priority, signal: pass.signal });
        // A single read may trail the create as well as a list does, and a list a deletion: which, time tells.
        if (read.kind === 'missing') return id === made || marked.has(id) ? undefined : 'gone';
        // It was proved gone: that it cannot be read keeps nothing back.
        if (read.kind === 'unknown' && former.back.includes(id) && isDenied(read.error)) return 'gone';
        if (read.kind === 'unknown') {
          unread = read.error;
          return undefined;
        }
        pass.memory.observed = { record: read.record, startedAt: read.startedAt, takeOver: false };
        const fresh = this.#kind.candidate(read.record, marker, options.finalName);
        // Some builds leave out what is empty: only what a create of ours may have made is doubted for that.
        const isOld =
          options.intent === undefined || wasMadeBefore(read.record, Date.parse(options.intent.at));
        return isOld && fresh.marked === undefined ? { ...fresh, marked: false } : fresh;
      },
    });
    if (outcome.kind === 'unknown') {
      const why =
        outcome.id === made
          ? 'it is not shown yet'
          : marked.has(outcome.id)
            ? 'lists show it with the marker of this resource, and a read of its own is answered 404'
            : 'it is shown without tags';
      return this.#unsearched(pass, outcome.id, unread ?? why);
    }
    if (outcome.kind === 'none' && entries.length === 0 && !options.mayBeBare) return this.#bare(pass);
    pass.memory.attempts.succeeded('read', '');
    // Its name is not another's: this resource gave it.
    const own = pass.memory.observed?.record;
    const isOwn =
      outcome.kind === 'nameTaken' &&
      former.back.includes(outcome.id) &&
      own?.id === outcome.id &&
      this.#kind.misfit(own, pass) === undefined;
    const unmarked =
      outcome.kind === 'none' && options.intent !== undefined
        ? this.#unmarked(entries, pass, Date.parse(options.intent.at))
        : undefined;
    const value: SearchOutcome = isOwn
      ? { kind: 'one', id: outcome.id }
      : outcome.kind === 'terminating'
        ? { ...outcome, recheckAfterMs: this.#endingAgain(pass, outcome.id) }
        : unmarked === undefined
          ? outcome
          : { kind: 'none', unmarked };
    return { kind: 'seen', value, startedAt: list.startedAt };
  }

  /** A role that was taken away looks the same as an empty workspace. */
  #bare({ handle }: Pass<R, Rec, M>): Failed {
    const message =
      `Whether the create has made a ${this.#kind.noun} is not known: lists of the workspace show nothing, and ` +
      'resources here hold records there. Check what the account may see';
    return { kind: 'failed', verdict: verdict('Unknown', message, handle.poll.lagWindowMs / 4) };
  }

  /** When to look again at a record that is on its way out, which may hang there for ever. */
  #endingAgain({ memory, handle }: Pass<R, Rec, M>, id: string): number {
    const said = verdict('Creating', `The ${this.#kind.noun} ${id} is on its way out`);
    const { recheckAfterMs = 0 } = memory.attempts.missed('read', `end of ${id}`, said);
    return Math.min(recheckAfterMs, handle.poll.settledMs);
  }

  /** Whose an entry of the list is cannot be told: it is looked at again, ever less often. */
  #unsearched(pass: Pass<R, Rec, M>, id: string, why: ServiceError | string): Failed {
    const text = typeof why === 'string' ? why : why.message;
    const message = `Whether the ${this.#kind.noun} ${id} of the workspace is this resource’s is not known: ${text}`;
    const { attempts } = pass.memory;
    const said =
      typeof why === 'string'
        ? attempts.missed('read', '', verdict('Unknown', message))
        : failed(why, pass).verdict;
    return { kind: 'failed', verdict: { ...said, message } };
  }

  /**
   * What nobody here holds and was made since, where the service keeps no markers: none of the records that other
   * resources here hold carries its own. Undefined where it keeps them, or where nothing tells.
   */
  #unmarked(
    entries: readonly Rec[],
    { resource, handle: { endpoint } }: Pass<R, Rec, M>,
    since: number,
  ): string[] | undefined {
    const made: string[] = [];
    let isKnown = false;
    for (const entry of entries) {
      const holder = this.#claims.holder({ id: entry.id, endpoint }, resource);
      if (holder === undefined) {
        if (!wasMadeBefore(entry, since)) made.push(entry.id);
        continue;
      }
      // A name is a marker only until it is the real one.
      const { marker } = this.#claims.claimant(holder);
      const { marked, named } = this.#kind.candidate(entry, marker, entry.name ?? '');
      if (marked === true || named) return undefined;
      isKnown ||= marked === false;
    }
    return isKnown ? made : undefined;
  }
}

/** Whether a record is older than `since` (milliseconds), by whichever clock. */
function wasMadeBefore({ created }: AnyRecord, since: number): boolean {
  const at = parseTimestamp(created);
  return at !== undefined && at < since - CLOCKS_APART_MS;
}

function isDenied({ code, status }: ServiceError): boolean {
  return code === 'BadId' || status === 403;
}
