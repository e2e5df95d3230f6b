import { rfc3339 } from '../../../base/rfc3339.ts';
import { ANNOTATIONS, API_VERSION } from '../../../api/names.ts';
import type { Meta } from '../../../api/resource.ts';
import { statusPatch, type ResourceType } from '../../../kube/index.ts';
import type { OperatorContext } from '../../context.ts';
import { eventOf, nextStatus, type AnyStatus, type StatusWish } from './next-status.ts';

/** Any resource of ours. */
interface AnyOfOurs {
  metadata: Meta;
  status: AnyStatus;
}

/** What writing status needs of the cache of its kind. */
export interface StatusCache<R> {
  get(key: string): R | undefined;
  /** Takes the answer of an own write. */
  remember(raw: object): void;
}

/** Writes status: only when it says something new, guarded by the version it was made from, with an event. */
export class StatusWriter<R extends AnyOfOurs> {
  readonly #context: Pick<OperatorContext, 'clock' | 'kube' | 'recorder'>;
  readonly #type: ResourceType;
  readonly #cache: StatusCache<R>;

  constructor(
    context: Pick<OperatorContext, 'clock' | 'kube' | 'recorder'>,
    type: ResourceType,
    cache: StatusCache<R>,
  ) {
    this.#context = context;
    this.#type = type;
    this.#cache = cache;
  }

  /**
   * Writes what a pass over `seen` wants said. The status is laid over the newest version that is known, while
   * its generation and the request that it echoes are those of `seen`: a spec that was changed in the middle of
   * the pass is not called handled. Throws KubeApiError, a conflict included.
   */
  async write(seen: R, wish: StatusWish, signal: AbortSignal): Promise<void> {
    const { clock, kube, recorder } = this.#context;
    const { name, namespace, uid, generation } = seen.metadata;
    const newest = this.#cache.get(`${namespace}/${name}`);
    if (newest === undefined || newest.metadata.uid !== uid) return;
    const asked = seen.metadata.annotations?.[ANNOTATIONS.requestedAt];
    const fields =
      asked === undefined ? wish.fields : { ...wish.fields, lastHandledRequest: asked.slice(0, 256) };
    const next = nextStatus(
      newest.status,
      { verdict: wish.verdict, fields },
      generation,
      rfc3339(clock.now()),
    );
    const patch = statusPatch(newest.status, next);
    if (patch === undefined) return;
    const raw = await kube.mergePatch(this.#type, { name, namespace }, patch, {
      subresource: 'status',
      resourceVersion: newest.metadata.resourceVersion,
      signal,
    });
    this.#cache.remember(raw);
    const regarding = { apiVersion: API_VERSION, kind: this.#type.kind, namespace, name, uid };
    const event = eventOf(newest.status.conditions, next.conditions ?? [], regarding);
    if (event !== undefined) recorder.event(event);
  }
}
