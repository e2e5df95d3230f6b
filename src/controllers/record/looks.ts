import {
  parseTimestamp,
  type AnyRecord,
  type Read,
  type ServiceError,
  type ServiceErrorCode,
  type Write,
} from '../../service/index.ts';
import { isAccount, type ConnectionHandle } from '../connection-handle.ts';
import type { Claims } from './claims.ts';
import type { Adoptee, Looked } from './decide.ts';
import { goneAfterDelete, type Existence } from './existence.ts';
import type { CreateIntent } from './identity/intent.ts';
import type { Convergence, Pass, RecordKind } from './kind.ts';
import type { Memory } from './memory.ts';
import { failed as noteFailed } from './outcome.ts';
import { plainIdProblem } from './plain-id.ts';
import { finalNameOf, type ManagedResource } from './resource.ts';
import { searchByMarker, type SearchOutcome } from './identity/search.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** Milliseconds a shared list may be old when nothing of ours can have been created in between. */
export const SHARED_LIST_AGE_MS = 30_000;
/** An answer to our own write is taken over instead of a read for so long. */
const TAKE_OVER_MS = 2_000;
/** A record that is to be adopted and is not seen is looked for at the least so often, milliseconds. */
const ADOPTEE_LOOK_MS = 600_000;
/** So many looks in a row may be glances at a list; then the record is read singly again. */
const GLANCES_LIMIT = 10;

/** The service's clock and ours may differ by so much unnoticed, milliseconds. */
const CLOCKS_APART_MS = 60_000;

/** Fingerprint of looks for a record that lives elsewhere. */
const AWAY = 'away';

/** The calls that observations are made of, for one kind. */
export class Looks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  /** How many records resources here hold in a workspace, in the list of this family. */
  readonly #held: (owner: string, endpoint: string) => number;

  constructor(
    kind: RecordKind<R, Rec, Desired, M>,
    claims: Claims<R>,
    held: (owner: string, endpoint: string) => number,
  ) {
    this.#kind = kind;
    this.#claims = claims;
    this.#held = held;
  }

  /** Does the claimed record exist? Takes over what the last write answered; else reads. */
  async existence(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Existence<Rec>>> {
    const { memory, handle } = pass;
    const deleting = pass.resource.metadata.deletionTimestamp !== undefined;
    if (deleting) memory.deletes.begin(mayHaveDeleted(pass, this.#kind));
    const taken = memory.observed;
    if (taken?.takeOver === true && taken.record.id === id) {
      memory.observed = { ...taken, takeOver: false };
      if (handle.client.stamp() - taken.startedAt < TAKE_OVER_MS) return found(taken.record, taken.startedAt);
    }
    const unchanged = await this.#unchanged(pass, id);
    if (unchanged !== undefined) return unchanged;
    const begun = handle.client.stamp();
    const read = await this.#kind.read(handle, id, { priority: pass.priority, signal: pass.signal });
    if (read.kind === 'found') {
      memory.attempts.succeeded('read', '');
      memory.attempts.succeeded('read', AWAY);
      // Only now: a create may be answered with a record that no read ever shows.
      memory.attempts.clearAspect('create');
      memory.glances = 0;
      memory.absence.noteFound();
      memory.deletes.noteFound();
      const lagEnds = (memory.lastWriteEndedAt ?? -Infinity) + handle.poll.lagWindowMs;
      if (read.startedAt < lagEnds && isOlder(read.record, memory.observed?.record)) {
        // The service's reads may trail its writes: what our write was answered with is newer than this.
        return found(memory.observed?.record ?? read.record, read.startedAt);
      }
      memory.observed = { record: read.record, startedAt: read.startedAt, takeOver: false };
      return found(read.record, read.startedAt);
    }
    const status = read.kind === 'missing' ? 404 : read.error.status;
    const counts = read.kind === 'missing' || (memory.deletes.standing !== undefined && status === 403);
    const away = awayFrom(pass, this.#kind.noun);
    if (away !== undefined && (counts || status === 403)) {
      return { kind: 'failed', verdict: memory.attempts.missed('read', AWAY, away) };
    }
    if (!counts) {
      return failed(read.kind === 'unknown' ? read.error : undefined, pass);
    }
    return this.#absence(pass, id, { status, startedAt: read.kind === 'missing' ? read.startedAt : begun });
  }

  /**
   * A look that no person has asked for first glances at the workspace's list, which all looks that fall due together share. An
   * entry that shows nothing new stands for what was read singly; whatever else it shows is read singly.
   */
  async #unchanged(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Existence<Rec>> | undefined> {
    const { memory, handle } = pass;
    const known = memory.observed?.record;
    if (pass.priority.byPerson || known?.id !== id) return undefined;
    if (memory.glances >= GLANCES_LIMIT || pass.resource.metadata.deletionTimestamp !== undefined)
      return undefined;
    // What another service was seen to hold says nothing of this one's.
    if (!isAtHome(pass.home, handle)) return undefined;
    const list = await handle.client.shared.list(this.#kind.family, pass.owner, {
      ...(memory.lastWriteEndedAt === undefined ? {} : { notBefore: memory.lastWriteEndedAt }),
      maxAgeMs: handle.poll.processingMs / 4,
      priority: pass.priority,
      signal: pass.signal,
    });
    const entry = list.kind === 'found' ? list.record.find((other) => other.id === id) : undefined;
    if (list.kind !== 'found' || entry === undefined) return undefined;
    if (!this.#kind.showsNothingNew(entry as unknown as Rec, known)) return undefined;
    memory.glances += 1;
    memory.attempts.succeeded('read', '');
    return found(known, list.startedAt);
  }

  /** Looks for the record that carries the marker. */
  async search(
    pass: Pass<R, Rec, M>,
    options: {
      finalName: string;
      intent: CreateIntent | undefined;
      notBefore: number | undefined;
      /** What a create for the marker has made a while ago: lists may not show it yet. */
      made: string | undefined;
      /** Earlier records of the resource that may come back, and those that are none of its candidates. */
      former: { back: readonly string[]; skip: readonly string[] };
    },
  ): Promise<Looked<SearchOutcome>> {
    const { handle, owner, marker } = pass;
    const list = await handle.client.shared.list(this.#kind.family, owner, {
      ...(options.notBefore === undefined
        ? { maxAgeMs: SHARED_LIST_AGE_MS }
        : { notBefore: options.notBefore, maxAgeMs: SHARED_LIST_AGE_MS }),
      priority: pass.priority,
      signal: pass.signal,
    });
    if (list.kind === 'missing') {
      const problem = await unknownOwner(pass);
      return problem === undefined ? failedRead(list, pass) : { kind: 'failed', verdict: problem };
    }
    if (list.kind !== 'found') return failedRead(list, pass);
    const workspace = await handle.client.shared.list('workspaces', '', {
      maxAgeMs: SHARED_LIST_AGE_MS,
      holding: (entry) => entry.id === owner,
      priority: pass.priority,
      signal: pass.signal,
    });
    if (workspace.kind !== 'found') return failedRead(workspace, pass);
    if (!workspace.record.some((entry) => entry.id === owner)) {
      const problem = await unknownOwner(pass);
      if (problem !== undefined) return { kind: 'failed', verdict: problem };
      const message = `Workspace "${owner}" is not in the list of workspaces yet`;
      const said = verdict('WaitingForReference', message);
      return { kind: 'failed', verdict: pass.memory.attempts.missed('read', `listed ${owner}`, said) };
    }
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
    let unread: ServiceError | undefined;
    const outcome = await searchByMarker({
      candidates,
      skip: [...(options.intent?.skip ?? []), ...former.skip],
      isClaimed: (id) => this.#claims.holder({ id, endpoint: handle.endpoint }, pass.resource) !== undefined,
      read: async (id) => {
        const read = await this.#kind.read(handle, id, { priority: pass.priority, signal: pass.signal });
        // A single read may trail the create as well as a list does.
        if (read.kind === 'missing') return id === made ? undefined : 'gone';
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
      const why = outcome.id === made ? 'it is not shown yet' : 'it is shown without tags';
      return this.#unsearched(pass, outcome.id, unread ?? why);
    }
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

  /** May the record that the user names be taken over? */
  async adoptee(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Adoptee<Rec>>> {
    const read = await this.#kind.read(pass.handle, id, { priority: pass.priority, signal: pass.signal });
    const unseen = (): number => this.#adopteeAgain(pass, id);
    if (read.kind === 'missing') return seen({ kind: 'notThere', recheckAfterMs: unseen() }, read.startedAt);
    if (read.kind === 'unknown') {
      if (read.error.code === 'BadId') return seen({ kind: 'noId' }, 0);
      if (read.error.status === 403) return seen({ kind: 'notThere', recheckAfterMs: unseen() }, 0);
      return failed(read.error, pass);
    }
    pass.memory.attempts.succeeded('read', '');
    const { endpoint } = pass.handle;
    const holder = this.#claims.holder({ id, endpoint }, pass.resource, read.record);
    if (holder !== undefined) {
      return seen({ kind: 'claimed', by: this.#claims.nameOf(holder, pass.resource) }, read.startedAt);
    }
    const misfit = this.#kind.misfit(read.record, pass);
    if (misfit !== undefined) return seen(misfit, read.startedAt);
    const list = await pass.handle.client.shared.list(this.#kind.family, pass.owner, {
      maxAgeMs: SHARED_LIST_AGE_MS / 3,
      holding: (entry) => entry.id === id,
      priority: pass.priority,
      signal: pass.signal,
    });
    if (list.kind !== 'found') return failedRead(list, pass);
    if (!list.record.some((entry) => entry.id === id)) {
      return seen({ kind: 'elsewhere', owner: pass.owner, recheckAfterMs: unseen() }, read.startedAt);
    }
    pass.memory.attempts.succeeded('read', adopting(id));
    pass.memory.observed = { record: read.record, startedAt: read.startedAt, takeOver: false };
    const { ending } = this.#kind.candidate(read.record, pass.marker, finalNameOf(pass.resource));
    return seen({ kind: 'free', record: read.record, isEnded: ending === 'terminated' }, read.startedAt);
  }

  /** May the record that a claim names which nothing else confirms be taken up? It bears the resource's name, too. */
  async restored(pass: Pass<R, Rec, M>, id: string, finalName: string): Promise<Looked<Adoptee<Rec>>> {
    const looked = await this.adoptee(pass, id);
    if (looked.kind === 'failed' || looked.value.kind !== 'free') return looked;
    const { name } = looked.value.record;
    if (name === finalName) return looked;
    return { ...looked, value: { kind: 'misfit', why: `it is called "${name ?? ''}", not "${finalName}"` } };
  }

  /** When to look again for a record that was not seen: soon, since reads trail what was just made, then less often. */
  #adopteeAgain({ memory }: Pass<R, Rec, M>, id: string): number {
    const said = verdict('WaitingForReference', `The ${this.#kind.noun} ${id} is not seen`);
    const { recheckAfterMs = 0 } = memory.attempts.missed('read', adopting(id), said);
    return Math.min(recheckAfterMs, ADOPTEE_LOOK_MS);
  }

  async #absence(
    pass: Pass<R, Rec, M>,
    id: string,
    answer: { status: number | undefined; startedAt: number },
  ): Promise<Looked<Existence<Rec>>> {
    const { memory, handle, owner } = pass;
    const options = { priority: pass.priority, signal: pass.signal };
    const list = await handle.client.shared.list(this.#kind.family, owner, {
      ...options,
      notBefore: handle.client.stamp(),
    });
    if (list.kind !== 'found') return failedRead(list, pass);
    const listed = list.record.some((entry) => entry.id === id);
    const workspace = await handle.client.workspaces.read(owner, options);
    const workspaceReadable = workspace.kind === 'found';
    const { absence, deletes } = memory;
    const { standing } = deletes;
    const gone = goneAfterDelete({ status: answer.status, listed, workspaceReadable }, standing);
    if (gone !== undefined) return seen(gone, list.startedAt);
    const { lagWindowMs, processingMs } = handle.poll;
    const proof = absence.note(
      {
        id,
        startedAt: answer.startedAt,
        // Nobody else answers 403 here for what a delete of ours may have taken away.
        missing: answer.status === 404 || standing !== undefined,
        workspaceReadable,
        listed,
        allGone: list.record.length === 0 && this.#held(owner, handle.endpoint) >= 2,
      },
      lagWindowMs,
    );
    if (proof.kind === 'absent' || pass.resource.metadata.deletionTimestamp === undefined) {
      return seen(proof, list.startedAt);
    }
    if (standing === 'unanswered' && answer.status === 403) return seen(proof, list.startedAt);
    const soon = Math.min(proof.recheckAfterMs, processingMs);
    if (standing !== undefined) return seen({ ...proof, recheckAfterMs: soon }, list.startedAt);
    const askInMs = deletes.nextInMs(handle.client.stamp(), absence.lastWriteAt, lagWindowMs);
    return seen(
      askInMs === 0
        ? { ...proof, askByDelete: true }
        : { ...proof, recheckAfterMs: Math.min(proof.recheckAfterMs, askInMs) },
      list.startedAt,
    );
  }
}

/** Whether a process before this one may have sent a delete for the present deletion. */
function mayHaveDeleted<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>>(
  { resource }: Pass<R, Rec, M>,
  kind: Pick<RecordKind<R, Rec, never, M>, 'mayBeDeleted'>,
): boolean {
  const { deleteSentAt } = resource.status;
  const { deletionTimestamp } = resource.metadata;
  if (deleteSentAt === undefined || deletionTimestamp === undefined) return false;
  return Date.parse(deleteSentAt) >= Date.parse(deletionTimestamp) && kind.mayBeDeleted?.(resource) !== false;
}

/** Why nothing is concluded from not seeing a record: it was last found elsewhere, or by another account. */
function awayFrom(
  { home, handle }: Pick<Pass<ManagedResource, AnyRecord, Memory>, 'home' | 'handle'>,
  noun: string,
): Verdict | undefined {
  if (isAtHome(home, handle)) return undefined;
  const [was, is] = [placeOf(home?.endpoint, home?.account), placeOf(handle.endpoint, handle.account)];
  return verdict(
    'NeedsUser',
    `The ${noun} is not seen. It was last found at ${was}, and the connection is to ${is}: nothing is concluded from ` +
      `that. Point the connection back, or delete this resource with deletionPolicy Orphan to let go of the ${noun}`,
  );
}

/** Whether a connection is to where the record was last found, with the account that found it. */
export function isAtHome(
  home: ManagedResource['status']['home'],
  handle: Pick<ConnectionHandle, 'endpoint' | 'account' | 'user'>,
): boolean {
  if (home === undefined) return true;
  return home.endpoint === handle.endpoint && (home.account === undefined || isAccount(home.account, handle));
}

function placeOf(
  endpoint = 'an endpoint that is not known',
  account = 'an account that is not known',
): string {
  return `${endpoint} with ${account}`;
}

/** No write to the record comes of this pass: the next one takes over what this has read, if it comes soon enough. */
export function takeOver({ observed }: Pick<Memory, 'observed'>): void {
  if (observed !== undefined) observed.takeOver = true;
}

/** What a list shows is acted upon only once the record was read singly. Undefined where it was. */
export function readFirst<R extends ManagedResource>(
  memory: Pick<Memory, 'glances'>,
): Convergence<R> | undefined {
  if (memory.glances === 0) return undefined;
  memory.glances = GLANCES_LIMIT;
  const said = verdict('Updating', 'The record is read before it is acted upon');
  return { verdict: said, fields: {}, afresh: true };
}

/** Whether `record` shows an older state than `known`, by the service's own `updated`. */
export function isOlder(record: AnyRecord, known: AnyRecord | undefined): boolean {
  return (
    known !== undefined &&
    known.id === record.id &&
    typeof record.updated === 'string' &&
    typeof known.updated === 'string' &&
    record.updated < known.updated
  );
}

/** Notes the answer of a write to, or a create of, a record. Returns the record when the answer held one. */
export function noteWrite<Rec extends AnyRecord>(
  memory: Memory<Rec>,
  write: Write<Rec | undefined>,
  stamp: number,
): void {
  const endedAt = write.kind === 'notSent' ? undefined : write.endedAt;
  if (write.kind === 'refused' || endedAt === undefined) return;
  memory.lastWriteEndedAt = endedAt;
  memory.absence.noteWrite(stamp);
  if (write.kind === 'ok' && write.record !== undefined) {
    memory.observed = { record: write.record, startedAt: write.endedAt, takeOver: true };
  }
}

/** Fingerprint of looks for a record that is to be adopted. */
function adopting(id: string): string {
  return `adopt ${id}`;
}

/** Whether a record is older than `since` (milliseconds), by whichever clock. */
function wasMadeBefore({ created }: AnyRecord, since: number): boolean {
  const at = parseTimestamp(created);
  return at !== undefined && at < since - CLOCKS_APART_MS;
}

function isDenied({ code, status }: ServiceError): boolean {
  return code === 'BadId' || status === 403;
}

/** What is wrong with the workspace that is to own the record. */
function unknownOwner<R extends ManagedResource, Rec extends AnyRecord>({
  resource,
  memory,
  handle,
  owner: id,
  priority,
  signal,
}: Pass<R, Rec, Memory<Rec>>): Promise<Verdict | undefined> {
  const named = { field: 'spec.owner, or the connection’s workspace', noun: 'workspace', id };
  return plainIdProblem({ resource, memory, handle }, named, () =>
    handle.client.workspaces.read(id, { priority, signal }),
  );
}

function found<Rec>(record: Rec, startedAt: number): Looked<Existence<Rec>> {
  return seen({ kind: 'found', record, startedAt }, startedAt);
}

function seen<T>(value: T, startedAt: number): Looked<T> {
  return { kind: 'seen', value, startedAt };
}

type Failed = { kind: 'failed'; verdict: Verdict; code?: ServiceErrorCode };

/** What of a pass a failure needs: the ledger that counts it. */
interface Failing {
  memory: Pick<Memory, 'attempts'>;
}

function failedRead(read: Exclude<Read<unknown>, { kind: 'found' }>, pass: Failing): Failed {
  return failed(read.kind === 'unknown' ? read.error : undefined, pass);
}

function failed(error: ServiceError | undefined, { memory }: Failing): Failed {
  const { attempts } = memory;
  if (error !== undefined) {
    const said = noteFailed(error, { attempts, aspect: 'read', fingerprint: '' });
    return { kind: 'failed', verdict: said, code: error.code };
  }
  const message = 'The owner workspace answers 404: check spec.owner and what the credentials can see';
  return { kind: 'failed', verdict: attempts.failed('read', '', verdict('Unknown', message)) };
}
