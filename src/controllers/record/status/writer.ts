import { rfc3339 } from '../../../base/rfc3339.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import type { Meta } from '../../../api/resource.ts';
import { tokenOf } from '../../../api/tokens.ts';
import { statusPatch, type KubeObject, type ResourceType } from '../../../kube/index.ts';
import type { OperatorContext } from '../../context.ts';
import { eventTarget } from '../../event-target.ts';
import { fitStatus, type FittedStatus } from './gate.ts';
import { LostFields } from './lost-fields.ts';
import { eventOf, nextStatus, type AnyStatus, type StatusWish } from './next-status.ts';
import { transitionOf } from './transition.ts';
import type { Verdict } from './verdict.ts';

/** Any resource of ours. */
export interface AnyOfOurs {
  metadata: Meta;
  spec: object;
  status: AnyStatus;
}

type StatusOnly = KubeObject & { status?: object };

/** A probe that was not answered is made again after so long, milliseconds. */
const PROBE_AGAIN_MS = 30_000;

/** What writing status needs of the cache of its kind. */
export interface StatusCache<R> {
  get(key: string): R | undefined;
  /** Takes the answer of an own write. */
  remember(raw: object): void;
  isLiving(uid: string): boolean;
}

/** Writes status: only when it says something new, guarded by the version it was made from, with an event. */
export class StatusWriter<R extends AnyOfOurs> {
  readonly #context: Pick<OperatorContext, 'clock' | 'kube' | 'log' | 'recorder' | 'secrets'>;
  readonly #type: ResourceType;
  readonly #cache: StatusCache<R>;
  readonly #lost: LostFields;

  constructor(
    context: Pick<OperatorContext, 'clock' | 'kube' | 'log' | 'recorder' | 'secrets'>,
    type: ResourceType,
    cache: StatusCache<R>,
  ) {
    this.#context = context;
    this.#type = type;
    this.#cache = cache;
    this.#lost = new LostFields(type.kind, (uid) => cache.isLiving(uid));
  }

  /**
   * Why nothing may be sent to the service for this kind; undefined while status keeps what is noted in it.
   * Whether the definition has come meanwhile is tried without effect, every few minutes or on request.
   */
  async hold(seen: R, signal: AbortSignal): Promise<Verdict | undefined> {
    const { clock, kube, log } = this.#context;
    const held = this.#lost.hold(clock.monotonic());
    if (held === undefined) return undefined;
    const { name, namespace, uid, annotations } = seen.metadata;
    const asked = tokenOf(annotations?.[ANNOTATIONS.requestedAt]);
    const isNew = asked !== undefined && asked !== seen.status.lastHandledRequest;
    const status = this.#lost.probe(uid, isNew, clock.monotonic());
    if (status === undefined) return held;
    const options = { subresource: 'status', dryRun: true, signal } as const;
    try {
      const raw = await kube.mergePatch<StatusOnly>(this.#type, { name, namespace }, { status }, options);
      this.#lost.probed(uid, status, raw.status, clock.monotonic());
    } catch (error) {
      if (signal.aborted) throw error;
      // What holds is still to be said; whether it still does is tried again soon.
      log.warn(
        { error, kind: this.#type.kind, name },
        'whether the definition keeps the status is not known',
      );
      this.#lost.unanswered(uid, clock.monotonic());
      return { ...held, recheckAfterMs: PROBE_AGAIN_MS };
    }
    return this.#lost.hold(clock.monotonic());
  }

  /**
   * Writes what a pass over `seen` wants said. The status is laid over the newest version that is known, while
   * its generation and the request that it echoes are those of `seen`: a spec that was changed in the middle of
   * the pass is not called handled. Throws KubeApiError, a conflict included.
   *
   * @returns why nothing may be sent, where something that decides does not fit status: that is said instead.
   */
  async write(seen: R, wish: StatusWish, signal: AbortSignal): Promise<Verdict | undefined> {
    const { clock, kube, log, recorder, secrets } = this.#context;
    const { name, namespace, uid, generation } = seen.metadata;
    const newest = this.#cache.get(`${namespace}/${name}`);
    if (newest === undefined || newest.metadata.uid !== uid) return undefined;
    const asked = tokenOf(seen.metadata.annotations?.[ANNOTATIONS.requestedAt]);
    const fields = asked === undefined ? wish.fields : { ...wish.fields, lastHandledRequest: asked };
    const current = this.#lost.over(uid, newest.status);
    const connection = connectionOf(seen);
    const fitted = (said: Verdict): FittedStatus<AnyStatus> => {
      const next = nextStatus(current, { verdict: said, fields }, generation, rfc3339(clock.now()));
      return fitStatus<AnyStatus>(this.#type.kind, next, current, (text, isCut) =>
        secrets.mask(connection, text, isCut),
      );
    };
    const { stop, status } = fitted(wish.verdict);
    const { extra = [] } = wish.verdict;
    const next = stop === undefined ? status : fitted({ ...stop, extra }).status;
    const patch = statusPatch(newest.status, next);
    if (patch === undefined || this.#lost.covers(patch.status, clock.monotonic())) return stop;
    const raw = await kube.mergePatch<StatusOnly>(this.#type, { name, namespace }, patch, {
      subresource: 'status',
      resourceVersion: newest.metadata.resourceVersion,
      signal,
    });
    this.#cache.remember(raw);
    const lost = this.#lost.note(uid, patch.status, raw.status, clock.monotonic());
    if (lost.length > 0) {
      const message =
        'the definition on the cluster is older than this operator: apply the CRDs of its version';
      log.error({ kind: this.#type.kind, lost }, message);
    }
    const transition = transitionOf(this.#type.kind, newest.status, next);
    if (transition !== undefined) {
      const said = { kind: this.#type.kind, namespace, name, ...transition.fields };
      log[transition.level](said, transition.message);
    }
    const regarding = eventTarget(this.#type.kind, seen);
    const event = eventOf(newest.status.conditions, next.conditions ?? [], regarding);
    if (event !== undefined) recorder.event(event);
    return stop;
  }
}

/** The key of the Connection whose secrets its status must not show; a Connection speaks of itself. */
export function connectionOf({ metadata: { namespace, name }, spec }: AnyOfOurs): string {
  const { connectionRef } = spec as { connectionRef?: { name: string } };
  return `${namespace}/${connectionRef?.name ?? name}`;
}
