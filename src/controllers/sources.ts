import {
  CONFIG_MAPS,
  KubeApiError,
  SECRETS,
  type Informer,
  type KubeClient,
  type KubeObject,
  type StoredObject,
} from '../kube/index.ts';
import type { Clock } from '../base/clock.ts';
import { SecretValues } from './secret-values.ts';

/** Where a piece of content stands: one key of a Secret or ConfigMap in the resource's own namespace. */
export interface SourceRef {
  kind: 'Secret' | 'ConfigMap';
  name: string;
  key: string;
}

/** The content, or what is missing, in words for the user. */
export type SourceContent = { kind: 'found'; bytes: Uint8Array } | { kind: 'missing'; message: string };

/** Contents of Secrets and ConfigMaps; always of the namespace that the reference stands in. */
export interface Sources {
  read(namespace: string, ref: SourceRef, signal?: AbortSignal): Promise<SourceContent>;
  /** A whole Secret, for credentials; undefined when there is none. */
  secret(
    namespace: string,
    name: string,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, Uint8Array>> | undefined>;
  /** Secret values read lately, of all resources: the service may quote one resource's to another. */
  secretValues(): readonly string[];
}

interface DataObject extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** Bytes that one key may hold: larger content is refused before it is parsed or sent. */
const CONTENT_LIMIT = 1_048_576;
/** Several resources that share a Secret are looked at together: within this time one read serves all. */
const SHARED_MS = 1_000;

/**
 * Reads through the API server: Secrets by `get` alone, once a pass; ConfigMaps by `get` when the metadata-only
 * watch says that their version is new.
 */
export class KubeSources implements Sources {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #configMaps: Informer<StoredObject>;
  readonly #maps = new Map<string, { version: string; object: DataObject }>();
  readonly #values = new SecretValues();
  readonly #secrets = new Map<string, { at: number; object: Promise<DataObject | undefined> }>();

  constructor(options: { kube: KubeClient; clock: Clock; configMaps: Informer<StoredObject> }) {
    this.#kube = options.kube;
    this.#clock = options.clock;
    this.#configMaps = options.configMaps;
  }

  async read(namespace: string, ref: SourceRef, signal?: AbortSignal): Promise<SourceContent> {
    let object: DataObject | undefined;
    try {
      object =
        ref.kind === 'Secret'
          ? await this.#secret(namespace, ref.name, signal)
          : await this.#configMap(namespace, ref.name, signal);
    } catch (error) {
      if (!(error instanceof KubeApiError && error.status === 403)) throw error;
      return missing(`the operator may not read ${ref.kind} "${ref.name}": grant it get in this namespace`);
    }
    if (object === undefined) return missing(`${ref.kind} "${ref.name}" does not exist`);
    const bytes = contentOf(object, ref);
    if (bytes === undefined) return missing(`${ref.kind} "${ref.name}" has no key "${ref.key}"`);
    if (bytes.byteLength > CONTENT_LIMIT) {
      return missing(`key "${ref.key}" of ${ref.kind} "${ref.name}" holds more than 1 MiB`);
    }
    return { kind: 'found', bytes };
  }

  async secret(
    namespace: string,
    name: string,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, Uint8Array>> | undefined> {
    // Not a shared read: whoever has just mended the credentials and asks for a look gets one.
    const object = await this.#readSecret(namespace, name, signal);
    if (object === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(object.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
    );
  }

  secretValues(): readonly string[] {
    return this.#values.all();
  }

  async #configMap(namespace: string, name: string, signal?: AbortSignal): Promise<DataObject | undefined> {
    const key = `${namespace}/${name}`;
    const version = this.#configMaps.get(key)?.metadata.resourceVersion;
    const known = this.#maps.get(key);
    if (version !== undefined && known?.version === version) return known.object;
    const object = await this.#kube.get<DataObject>(CONFIG_MAPS, { namespace, name }, { signal });
    const read = object?.metadata.resourceVersion;
    if (object === undefined || read === undefined) this.#maps.delete(key);
    else this.#maps.set(key, { version: read, object });
    return object;
  }

  #secret(namespace: string, name: string, signal?: AbortSignal): Promise<DataObject | undefined> {
    const now = this.#clock.monotonic();
    for (const [key, entry] of this.#secrets) {
      if (now - entry.at > SHARED_MS) this.#secrets.delete(key);
    }
    const key = `${namespace}/${name}`;
    const shared = this.#secrets.get(key);
    if (shared !== undefined) return shared.object;
    const object = this.#readSecret(namespace, name, signal);
    this.#secrets.set(key, { at: now, object });
    object.catch(() => this.#secrets.delete(key));
    return object;
  }

  async #readSecret(namespace: string, name: string, signal?: AbortSignal): Promise<DataObject | undefined> {
    const object = await this.#kube.get<DataObject>(SECRETS, { namespace, name }, { signal });
    for (const value of Object.values(object?.data ?? {})) this.#values.note(value);
    return object;
  }
}

function contentOf(object: DataObject, ref: SourceRef): Uint8Array | undefined {
  const text = own(object.data, ref.key);
  const binary = own(object.binaryData, ref.key);
  if (ref.kind === 'Secret') return text === undefined ? undefined : Buffer.from(text, 'base64');
  if (text !== undefined) return Buffer.from(text, 'utf8');
  return binary === undefined ? undefined : Buffer.from(binary, 'base64');
}

function own(data: Record<string, string> | undefined, key: string): string | undefined {
  return data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
}

function missing(message: string): SourceContent {
  return { kind: 'missing', message };
}
