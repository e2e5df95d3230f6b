import type { Clock } from '../../src/base/clock.ts';
import { apiVersionOf, keyOf, type ObjectRef, type ResourceType } from '../../src/kube/object.ts';
import {
  KubeTransportError,
  type KubeAnswer,
  type KubePort,
  type KubeRequest,
  type KubeWatch,
} from '../../src/kube/port.ts';
import { NAMESPACES } from '../../src/kube/types.ts';
import { builtInKinds, type FakeKind } from './fake-kube/kinds.ts';
import { Pages } from './fake-kube/lists.ts';
import { copy, isRecord, timestamp, type StoredObject } from './fake-kube/objects.ts';
import { badRequest, notFound, qualified, Refusal, statusBody } from './fake-kube/refusals.ts';
import { queryFlag, queryText, targetOf, type Target } from './fake-kube/requests.ts';
import { fieldSelector, labelSelector, type Selector } from './fake-kube/selectors.ts';
import { Store } from './fake-kube/store.ts';
import { FakeWatch } from './fake-kube/watch.ts';
import { Writes, type WriteTarget } from './fake-kube/writes.ts';

export { customKind, ownKinds, type FakeKind } from './fake-kube/kinds.ts';
export type { StoredObject } from './fake-kube/objects.ts';

export interface FakeKubeOptions {
  clock: Clock;
  /** Kinds besides the built-in ones, from {@link customKind} or {@link ownKinds}. */
  kinds?: readonly FakeKind[];
  /** @default ['default'] */
  namespaces?: readonly string[];
  /** How many changes a watch can go back. @default 1000 */
  historyLimit?: number;
}

/**
 * The Kubernetes API in this process: versions, watches, patches, finalizers and the status subresource as
 * the real one has them, checked by the same tests. No controllers: nothing collects garbage, and a namespace
 * that is deleted stays terminating. The same calls at the same times give the same answers, uids included.
 */
export class FakeKube implements KubePort {
  readonly store: Store;
  /** How long watches trail the writes, milliseconds: caches are as old as that. */
  watchLagMs = 0;
  readonly #clock: Clock;
  readonly #kinds: readonly FakeKind[];
  readonly #writes: Writes;
  readonly #pages = new Pages();
  readonly #watches = new Set<FakeWatch>();

  constructor(options: FakeKubeOptions) {
    this.#clock = options.clock;
    this.#kinds = [...builtInKinds(), ...(options.kinds ?? [])];
    this.store = new Store({ firstVersion: 1, historyLimit: options.historyLimit ?? 1_000 });
    this.#writes = new Writes(this.store, options.clock);
    for (const name of options.namespaces ?? ['default']) this.addNamespace(name);
  }

  async request(request: KubeRequest): Promise<KubeAnswer> {
    request.signal?.throwIfAborted();
    // An answer is never there in the turn of its call.
    await Promise.resolve();
    request.signal?.throwIfAborted();
    return this.handle(request);
  }

  async watch(request: KubeRequest): Promise<KubeWatch> {
    request.signal?.throwIfAborted();
    await Promise.resolve();
    request.signal?.throwIfAborted();
    try {
      return this.#openWatch(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ...copy(error.answer), events: nothing(), close: () => undefined };
    }
  }

  /** One request, answered at once. */
  handle(request: KubeRequest): KubeAnswer {
    try {
      return this.#dispatch(request);
    } catch (error) {
      if (error instanceof Refusal) return copy(error.answer);
      throw error;
    }
  }

  addNamespace(name: string): void {
    this.#writes.create(
      { kind: this.#kindOf(NAMESPACES), namespace: undefined, manager: 'test', dryRun: false },
      { metadata: { name } },
    );
  }

  /** An object as it is stored, or undefined. */
  get(type: ResourceType, ref: ObjectRef): StoredObject | undefined {
    const object = this.store.get(type, keyOf(ref));
    return object === undefined ? undefined : copy(object);
  }

  /** All objects of a kind as they are stored, by key. */
  list(type: ResourceType): StoredObject[] {
    return this.store.all(type).map((object) => copy(object));
  }

  /** Stores an object unchecked, as an older schema or a restore may have left it. */
  seed(type: ResourceType, object: { metadata: ObjectRef; [member: string]: unknown }): void {
    const key = keyOf(object.metadata);
    const before = this.store.get(type, key);
    const metadata = {
      uid: `00000000-0000-4000-9000-${String(this.store.version).padStart(12, '0')}`,
      creationTimestamp: timestamp(this.#clock.now()),
      generation: 1,
      ...before?.metadata,
      ...object.metadata,
    };
    this.store.commit(type, key, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      ...object,
      metadata,
    } as StoredObject);
  }

  /** Takes an object out of the store, finalizers or not. */
  purge(type: ResourceType, ref: ObjectRef): void {
    if (this.store.get(type, keyOf(ref)) !== undefined) this.store.commit(type, keyOf(ref), undefined);
  }

  /** Ends all watches as the server ends them, or breaks their connections. */
  endWatches(how: 'end' | 'break' = 'end'): void {
    for (const watch of this.#watches) {
      if (how === 'end') watch.end();
      else watch.break();
    }
  }

  /** Watches that are open. */
  get openWatches(): number {
    return this.#watches.size;
  }

  #dispatch(request: KubeRequest): KubeAnswer {
    if (request.path === '/version') return ok({ major: '1', minor: '36', gitVersion: 'v1.36.3' });
    if (['/readyz', '/livez', '/healthz'].includes(request.path)) return ok('ok');
    const target = targetOf(request.path, this.#kinds);
    if (target === undefined) {
      return {
        status: 404,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: '404 page not found\n',
      };
    }
    const { kind, name, subresource } = target;
    if (subresource !== undefined && (subresource !== 'status' || !kind.status)) {
      throw new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});
    }
    if (name === undefined) {
      if (request.method === 'GET') return this.#list(target, request);
      if (request.method === 'POST') {
        const object = this.#writes.create(writeTarget(target, request, ''), request.body);
        return ok(shapeOf(request)(object), 201);
      }
      throw methodNotAllowed();
    }
    const shape = shapeOf(request);
    switch (request.method) {
      case 'GET': {
        const object = this.store.get(kind.type, keyOf({ namespace: target.namespace, name }));
        if (object === undefined) throw notFound(kind.type, name);
        return ok(shape(object));
      }
      case 'PUT':
        return ok(shape(this.#writes.replace(writeTarget(target, request, name), request.body).object));
      case 'PATCH':
        return this.#patch(writeTarget(target, request, name), request);
      case 'DELETE':
        return this.#delete(writeTarget(target, request, name), request);
      default:
        throw methodNotAllowed();
    }
  }

  #patch(target: WriteTarget, request: KubeRequest): KubeAnswer {
    const shape = shapeOf(request);
    switch (request.contentType) {
      case 'application/merge-patch+json':
        return ok(shape(this.#writes.patch(target, request.body).object));
      case 'application/apply-patch+yaml': {
        const { created, object } = this.#writes.apply(target, request.body, queryFlag(request, 'force'));
        return ok(shape(object), created ? 201 : 200);
      }
      default:
        throw new Refusal(
          415,
          'UnsupportedMediaType',
          'the body of the request was in an unknown format - accepted media types include: application/merge-patch+json, application/apply-patch+yaml',
        );
    }
  }

  #delete(target: WriteTarget, request: KubeRequest): KubeAnswer {
    const options = isRecord(request.body) ? copy(request.body) : {};
    const preconditions = isRecord(options['preconditions']) ? options['preconditions'] : {};
    const outcome = this.#writes.remove(target, preconditions);
    if ('going' in outcome) return ok(shapeOf(request)(outcome.going));
    const { type } = target.kind;
    const { name, uid } = outcome.gone.metadata;
    return ok({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural, uid },
    });
  }

  #list(target: Target, request: KubeRequest): KubeAnswer {
    const { type } = target.kind;
    const token = queryText(request, 'continue');
    const limitText = queryText(request, 'limit');
    const limit = limitText === undefined ? undefined : Number(limitText);
    const selector = this.#selector(target, request);
    const page =
      token === undefined || token === ''
        ? this.#pages.begin(this.store.all(type).filter(selector), this.store.version, limit)
        : this.#pages.resume(token, limit, this.store.compactedTo);
    const metadataOnly = isMetadataOnly(request);
    const shape = shapeOf(request);
    const items = page.items.map((object) => {
      const shaped = shape(object) as Partial<StoredObject>;
      if (target.kind.builtIn && !metadataOnly) {
        const { apiVersion: _apiVersion, kind: _kind, ...bare } = shaped;
        return bare;
      }
      return shaped;
    });
    return ok({
      kind: metadataOnly ? 'PartialObjectMetadataList' : `${type.kind}List`,
      apiVersion: metadataOnly ? 'meta.k8s.io/v1' : apiVersionOf(type),
      metadata: {
        resourceVersion: String(page.version),
        ...(page.next === undefined ? {} : { continue: page.next, remainingItemCount: page.remaining }),
      },
      items,
    });
  }

  #openWatch(request: KubeRequest): KubeWatch {
    const target = targetOf(request.path, this.#kinds);
    if (target === undefined || target.name !== undefined || request.method !== 'GET')
      throw methodNotAllowed();
    const { type } = target.kind;
    const from = queryText(request, 'resourceVersion') ?? '';
    if (from !== '' && !/^\d+$/.test(from)) throw badRequest(`invalid resource version "${from}"`);
    const timeout = queryText(request, 'timeoutSeconds');
    const shape = shapeOf(request);
    const listening: { stop?: () => void } = {};
    const watch = new FakeWatch({
      clock: this.#clock,
      selector: this.#selector(target, request),
      shape,
      bookmark: queryFlag(request, 'allowWatchBookmarks')
        ? () => this.#bookmark(type, isMetadataOnly(request))
        : undefined,
      timeoutMs: timeout === undefined ? undefined : Number(timeout) * 1_000,
      lagMs: () => this.watchLagMs,
      signal: request.signal,
      onEnd: () => {
        listening.stop?.();
        this.#watches.delete(watch);
      },
    });
    this.#watches.add(watch);
    const version = Number(from);
    if (version === 0) {
      for (const object of this.store.all(type)) watch.pushInitial(object);
    } else if (version < this.store.compactedTo) {
      const words = `too old resource version: ${version} (${this.store.compactedTo})`;
      watch.pushError(statusBody(410, 'Expired', words));
      return watch;
    } else {
      for (const entry of this.store.since(type, version)) watch.push(entry);
    }
    listening.stop = this.store.listen((entry) => {
      if (entry.resource !== qualified(type) || entry.version <= version) return;
      watch.push(entry);
    });
    return watch;
  }

  #bookmark(type: ResourceType, metadataOnly: boolean): object {
    return {
      kind: metadataOnly ? 'PartialObjectMetadata' : type.kind,
      apiVersion: metadataOnly ? 'meta.k8s.io/v1' : apiVersionOf(type),
      metadata: { resourceVersion: String(this.store.version), creationTimestamp: null },
    };
  }

  #selector(target: Target, request: KubeRequest): Selector {
    const labels = labelSelector(queryText(request, 'labelSelector'));
    const fields = fieldSelector(queryText(request, 'fieldSelector'), target.kind.selectableFields);
    const { namespace } = target;
    return (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      labels(object) &&
      fields(object);
  }

  #kindOf(type: ResourceType): FakeKind {
    const kind = this.#kinds.find((one) => qualified(one.type) === qualified(type));
    if (kind === undefined) throw new Error(`the fake has no kind ${qualified(type)}`);
    return kind;
  }
}

/** An error for plans that break a connection. */
export function connectionReset(maybeSent = true): KubeTransportError {
  return new KubeTransportError('the connection was reset', { maybeSent });
}

function ok(body: unknown, status = 200): KubeAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: copy(body) };
}

function methodNotAllowed(): Refusal {
  return new Refusal(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

function writeTarget(target: Target, request: KubeRequest, name: string): WriteTarget {
  return {
    kind: target.kind,
    namespace: target.namespace,
    name,
    status: target.subresource === 'status',
    manager: queryText(request, 'fieldManager') ?? '',
    dryRun: queryText(request, 'dryRun') === 'All',
  };
}

function isMetadataOnly(request: KubeRequest): boolean {
  return request.accept?.includes('as=PartialObjectMetadata') === true;
}

/** How an object travels; what does is still to be copied. */
function shapeOf(request: KubeRequest): (object: StoredObject) => object {
  if (!isMetadataOnly(request)) return (object) => object;
  return ({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
}

async function* nothing(): AsyncGenerator<never, void, undefined> {
  // A refused watch shows nothing.
}
