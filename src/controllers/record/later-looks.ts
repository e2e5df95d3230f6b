import { API_VERSION } from '../../api/names.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { Claims } from './claims.ts';
import type { ReconcileContext } from '../../kube/index.ts';
import type { ConnectionHandle, ConnectionState } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import type { Formers } from './former/formers.ts';
import type { Former } from './former/list.ts';
import type { Pass, RecordKind } from './kind.ts';
import type { Memory } from './memory.ts';
import { finalNameOf, type ManagedResource, type ResourceCache } from './resource.ts';

/** So many looks that say nothing are made; then whoever hides the record hides it for good. */
const LOOKS = 5;

/** A record that was let go of after our own delete, and is looked for once more. */
interface Later<R> {
  resource: R;
  former: Former;
  marker: string;
  lagWindowMs: number;
  /** Monotonic milliseconds. */
  dueAt: number;
  looks: number;
  isTold: boolean;
}

/**
 * After our own delete one look is enough to let a resource go (existence.ts). What was let go so is looked for once
 * more when reads cannot trail any longer; where it is there after all and nobody has it, it is deleted, and an Event
 * says so. It lives in memory: a restart forgets it.
 */
export class LaterLooks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #cache: ResourceCache<R>;
  readonly #formers: Formers<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  readonly #memoryOf: (resource: R, id: string) => M;
  readonly #byKey = new Map<string, Later<R>>();

  constructor(
    context: OperatorContext,
    kind: RecordKind<R, Rec, Desired, M>,
    parts: {
      cache: ResourceCache<R>;
      formers: Formers<R, Rec, Desired, M>;
      claims: Claims<R>;
      memoryOf: (resource: R, id: string) => M;
    },
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#cache = parts.cache;
    this.#formers = parts.formers;
    this.#claims = parts.claims;
    this.#memoryOf = parts.memoryOf;
  }

  /** Notes what the resource of a pass is let go with. */
  note(key: string, { resource, marker, owner, handle, now }: Pass<R, Rec, M>, id: string): void {
    const { endpoint, poll } = handle;
    const since = new Date(now).toISOString();
    this.#byKey.set(key, {
      resource,
      former: { id, endpoint, owner, why: 'Surplus', since },
      marker,
      lagWindowMs: poll.lagWindowMs,
      dueAt: this.#context.clock.monotonic() + poll.lagWindowMs,
      looks: 0,
      isTold: false,
    });
  }

  /**
   * Looks where it is time. Answers in how many milliseconds to come back; undefined: there is nothing to look for.
   * Failures count as looks that say nothing.
   */
  async look(key: string, run: ReconcileContext): Promise<number | undefined> {
    const later = this.#byKey.get(key);
    if (later === undefined) return undefined;
    const { clock, connections } = this.#context;
    const left = later.dueAt - clock.monotonic();
    if (left > 0) return left;
    const { namespace } = later.resource.metadata;
    const handle = handleOf(connections.resolve(namespace, later.resource.spec.connectionRef));
    const again =
      handle?.endpoint === later.former.endpoint ? await this.#lookAt(key, later, handle, run) : undefined;
    if (again === undefined) this.#byKey.delete(key);
    else later.dueAt = clock.monotonic() + again;
    return again;
  }

  /** Answers when to look again; undefined: it is gone, or somebody's. */
  async #lookAt(
    key: string,
    later: Later<R>,
    handle: ConnectionHandle,
    run: ReconcileContext,
  ): Promise<number | undefined> {
    const { former, marker, resource, lagWindowMs } = later;
    const { priority, signal } = run;
    const read = await this.#kind.read(handle, former.id, { priority, signal });
    if (read.kind === 'missing') return undefined;
    const present = this.#cache.get(key);
    // Who has the name now looks for the marker, and takes it.
    const isWanted = present !== undefined && present.status.id === undefined;
    if (read.kind === 'unknown' || isWanted) {
      later.looks += 1;
      return later.looks < LOOKS ? lagWindowMs : undefined;
    }
    if (this.#claims.holder(former, resource, read.record) !== undefined) return undefined;
    const { record } = read;
    const finalName = finalNameOf(resource);
    const { marked, named } = this.#kind.candidate(record, marker, finalName);
    const { clock, random } = this.#context;
    const pass: Pass<R, Rec, M> = {
      resource,
      memory: this.#memoryOf(resource, former.id),
      marker,
      handle,
      owner: former.owner,
      home: resource.status.home,
      priority,
      signal,
      secretsAfter: undefined,
      now: clock.now(),
      random,
    };
    const isNamesake = named && this.#kind.misfit(record, pass) === undefined;
    if (marked !== true && !isNamesake) return undefined;
    if (!later.isTold) this.#tell(later);
    later.isTold = true;
    const step = await this.#formers.remove(pass, { former, record });
    switch (step.kind) {
      case 'sent':
        return handle.poll.processingMs;
      case 'gone':
        return undefined;
      case 'note':
        later.former = step.former;
        return 0;
      case 'waits':
        return step.verdict.recheckAfterMs ?? handle.poll.settledMs;
      default:
        return step satisfies never;
    }
  }

  #tell({ resource, former }: Later<R>): void {
    const { kind } = this.#kind.type;
    const { namespace, name, uid } = resource.metadata;
    this.#context.recorder.event({
      regarding: { apiVersion: API_VERSION, kind, namespace, name, uid },
      type: 'Warning',
      reason: 'Deleting',
      action: 'Delete',
      note: `The ${this.#kind.noun} ${former.id} was deleted, and is there again; nobody has it: it is deleted once more`,
    });
  }
}

function handleOf(state: ConnectionState): ConnectionHandle | undefined {
  return state.kind === 'pending' ? undefined : state.handle;
}
