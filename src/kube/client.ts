import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  ListOptions,
  MergePatchOptions,
  WriteOptions,
} from './call-options.ts';
import { callWithRetries, type RetryOptions } from './calls.ts';
import { KubeApiError } from './errors.ts';
import { apiVersionOf, pathOf, type KubeObject, type ObjectRef, type ResourceType } from './object.ts';
import { METADATA_ONLY, type KubePort, type KubeRequest } from './port.ts';

/** Options of {@link KubeClient}. */
export interface KubeClientOptions extends RetryOptions {
  /**
   * Field manager of writes to the object itself.
   * @defaultValue `boxwright-operator`
   */
  fieldManager?: string;
  /**
   * Field manager of writes to the status subresource, so that managedFields tell the two apart.
   * @defaultValue `<fieldManager>-status`
   */
  statusFieldManager?: string;
}

/**
 * The verbs of the Kubernetes API over a {@link KubePort}: answers are the plain JSON that travelled, refusals
 * are {@link KubeApiError}, a missing answer is KubeTransportError. Retries by the rules of `retry.ts`.
 */
export class KubeClient {
  readonly port: KubePort;
  readonly #options: KubeClientOptions;
  readonly #fieldManager: string;
  readonly #statusFieldManager: string;

  constructor(port: KubePort, options: KubeClientOptions) {
    this.port = port;
    this.#options = options;
    this.#fieldManager = options.fieldManager ?? 'boxwright-operator';
    this.#statusFieldManager = options.statusFieldManager ?? `${this.#fieldManager}-status`;
  }

  /** One object, or undefined when there is none. */
  async get<T extends KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: CallOptions & { metadataOnly?: boolean } = {},
  ): Promise<T | undefined> {
    const request: KubeRequest = { method: 'GET', path: pathOf(type, ref) };
    if (options.metadataOnly === true) request.accept = METADATA_ONLY.object;
    return this.#optional(() => this.#call<T>(request, true, options.signal));
  }

  /** All objects of a kind, or those of a namespace or selector, read in pages. Consistent: never from a stale cache. */
  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const request: KubeRequest = {
        method: 'GET',
        path: pathOf(type, { namespace: options.namespace }),
        query: {
          limit: options.pageSize ?? 500,
          labelSelector: options.labelSelector,
          fieldSelector: options.fieldSelector,
          continue: next,
        },
      };
      if (options.metadataOnly === true) request.accept = METADATA_ONLY.list;
      const page = await this.#call<ListBody<T>>(request, true, options.signal);
      for (const item of page.items ?? []) items.push(withType(item, type));
      next = page.metadata?.continue === '' ? undefined : page.metadata?.continue;
    } while (next !== undefined);
    return items;
  }

  /** Makes an object. Not retried when the answer was lost: the next try could not tell its own object. */
  async create<T extends KubeObject>(
    type: ResourceType,
    object: T | Record<string, unknown>,
    options: Omit<WriteOptions, 'subresource'> = {},
  ): Promise<T> {
    const metadata = (object as KubeObject).metadata;
    return this.#call<T>(
      {
        method: 'POST',
        path: pathOf(type, { namespace: metadata.namespace }),
        query: this.#writeQuery(options),
        body: { apiVersion: apiVersionOf(type), kind: type.kind, ...object },
      },
      false,
      options.signal,
    );
  }

  /** Replaces an object (PUT). Its `metadata.resourceVersion`, when there, is checked by the server. */
  async replace<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#call<T>(
      {
        method: 'PUT',
        path: pathOf(type, { ...refIn(object), subresource: options.subresource }),
        query: this.#writeQuery(options),
        body: object,
      },
      object.metadata.resourceVersion !== undefined,
      options.signal,
    );
  }

  /** Merge patch (RFC 7386). Answers the new object. */
  async mergePatch<T extends KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: object,
    options: MergePatchOptions = {},
  ): Promise<T> {
    const guarded = options.resourceVersion !== undefined;
    return this.#call<T>(
      {
        method: 'PATCH',
        path: pathOf(type, { namespace: ref.namespace, name: ref.name, subresource: options.subresource }),
        query: this.#writeQuery(options),
        contentType: 'application/merge-patch+json',
        body: guarded ? withVersion(patch, options.resourceVersion) : patch,
      },
      // Again is safe: the version that a lost answer made turns the second try into a conflict.
      guarded,
      options.signal,
    );
  }

  /** Server-side apply of the fields in `object`, which names itself by metadata. Answers the new object. */
  async apply<T extends KubeObject>(
    type: ResourceType,
    object: KubeObject,
    options: ApplyOptions = {},
  ): Promise<T> {
    return this.#call<T>(
      {
        method: 'PATCH',
        path: pathOf(type, { ...refIn(object), subresource: options.subresource }),
        query: { ...this.#writeQuery(options), force: options.force },
        contentType: 'application/apply-patch+yaml',
        // JSON is YAML.
        body: { ...object, apiVersion: apiVersionOf(type), kind: type.kind },
      },
      true,
      options.signal,
    );
  }

  /** Deletes an object. `false` when there was none. */
  async delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    const answer = await this.#optional(() =>
      this.#call<unknown>(
        {
          method: 'DELETE',
          path: pathOf(type, { namespace: ref.namespace, name: ref.name }),
          body: {
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            propagationPolicy: options.propagationPolicy,
            preconditions:
              options.uid === undefined && options.resourceVersion === undefined
                ? undefined
                : { uid: options.uid, resourceVersion: options.resourceVersion },
          },
        },
        options.uid !== undefined,
        options.signal,
      ).then((body) => ({ body })),
    );
    return answer !== undefined;
  }

  /** Any GET, for discovery, `/version` and `/readyz`. Answers the parsed body. */
  async raw<T>(path: string, options: CallOptions & { query?: KubeRequest['query'] } = {}): Promise<T> {
    const request: KubeRequest = { method: 'GET', path };
    if (options.query !== undefined) request.query = options.query;
    return this.#call<T>(request, true, options.signal);
  }

  #writeQuery(options: WriteOptions): Record<string, string | undefined> {
    const own = options.subresource === 'status' ? this.#statusFieldManager : this.#fieldManager;
    return {
      fieldManager: options.fieldManager ?? own,
      dryRun: options.dryRun === true ? 'All' : undefined,
    };
  }

  async #optional<R>(call: () => Promise<R>): Promise<R | undefined> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof KubeApiError && error.isNotFound && isAboutTheObject(error)) return undefined;
      throw error;
    }
  }

  async #call<T>(request: KubeRequest, idempotent: boolean, signal: AbortSignal | undefined): Promise<T> {
    const answer = await callWithRetries(this.port, request, { ...this.#options, idempotent, signal });
    return answer.body as T;
  }
}

interface ListBody<T> {
  items?: T[] | null;
  metadata?: { continue?: string; resourceVersion?: string };
}

/** A 404 also comes for a path that nothing serves (a CRD not installed); that is no proof of absence. */
function isAboutTheObject(error: KubeApiError): boolean {
  return (
    error.reason === 'NotFound' && error.statusMessage !== 'the server could not find the requested resource'
  );
}

/** Lists of built-in kinds leave kind and apiVersion to the list. */
function withType<T extends KubeObject>(object: T, type: ResourceType): T {
  object.apiVersion ??= apiVersionOf(type);
  object.kind ??= type.kind;
  return object;
}

function refIn(object: KubeObject): { namespace: string | undefined; name: string } {
  return { namespace: object.metadata.namespace, name: object.metadata.name };
}

function withVersion(patch: object, resourceVersion: string | undefined): object {
  const metadata = (patch as { metadata?: object }).metadata;
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}
