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
import { raceAbort } from '../base/race-abort.ts';
import { secretRefusal, type SecretSelector } from './secret-policy.ts';
import type { SecretWatch } from './secret-watch.ts';

/** Where a piece of content stands: one key of a Secret or ConfigMap in the resource's own namespace. */
export interface SourceRef {
  kind: 'Secret' | 'ConfigMap';
  name: string;
  key: string;
}

/** The content, or what is missing, in words for the user. */
export type SourceContent = { kind: 'found'; bytes: Uint8Array } | { kind: 'missing'; message: string };

/** A Secret as it stands. */
export interface WholeSecret {
  /** Another one after every touch, even where the content stays the same. */
  version: string;
  type: string | undefined;
  /** Empty where it is refused. */
  data: Readonly<Record<string, Uint8Array>>;
  /** Why nothing of it may be read, in words that follow its name. */
  refused: string | undefined;
}

/** How a source is read. */
export interface ReadOptions {
  signal?: AbortSignal;
  /**
   * A {@link Sources.mark}: reads of others count only when they began after it. Absent: one that began a
   * moment ago will do.
   */
  after?: number | undefined;
}

/** Contents of Secrets and ConfigMaps; always of the namespace that the reference stands in. */
export interface Sources {
  read(namespace: string, ref: SourceRef, options?: ReadOptions): Promise<SourceContent>;
  /** A whole Secret, for credentials; undefined when there is none. */
  secret(namespace: string, name: string, signal?: AbortSignal): Promise<WholeSecret | undefined>;
  /** A point in the order of reads: whoever handles a change takes one, and reads nothing from before it. */
  mark(): number;
  /** A Secret has changed: nobody joins a read of it that began before. */
  forgetSecret(namespace: string, name: string): void;
  /** Whether changes of Secrets in this namespace are heard of; if not, they have to be looked at. */
  followsSecrets(namespace: string): boolean;
}

interface DataObject extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** A read of a Secret that others may join. */
interface SharedRead {
  /** When it began, in the order of marks. */
  mark: number;
  object: Promise<DataObject | undefined>;
}

/** Bytes that one key may hold: larger content is refused before it is parsed or sent. */
const CONTENT_LIMIT = 1_048_576;
/** Several resources that share a Secret are looked at together: within this time one read serves all. */
const SHARED_MS = 1_000;

/**
 * Reads through the API server: Secrets by `get` alone, and never kept for longer than {@link SHARED_MS}; ConfigMaps by `get` when the metadata-only
 * watch says that their version is new.
 */
export class KubeSources implements Sources {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #configMaps: Informer<StoredObject>;
  readonly #maps = new Map<string, { version: string; object: DataObject }>();
  readonly #secrets = new Map<string, SharedRead>();
  readonly #secretWatch: Pick<SecretWatch, 'follows'> | undefined;
  readonly #selector: SecretSelector;
  readonly #own: ReadonlySet<string>;
  #marks = 0;

  constructor(options: {
    kube: KubeClient;
    clock: Clock;
    configMaps: Informer<StoredObject>;
    /** Absent: Secrets are not followed. */
    secretWatch?: Pick<SecretWatch, 'follows'> | undefined;
    /** Labels that a Secret has to carry. @default none */
    secretSelector?: SecretSelector | undefined;
    /** `namespace/name` of the operator's own Secrets: no resource gets anything of its keys. */
    own?: ReadonlySet<string> | undefined;
  }) {
    this.#kube = options.kube;
    this.#clock = options.clock;
    this.#configMaps = options.configMaps;
    this.#secretWatch = options.secretWatch;
    this.#selector = options.secretSelector ?? new Map();
    this.#own = options.own ?? new Set();
  }

  mark(): number {
    return ++this.#marks;
  }

  followsSecrets(namespace: string): boolean {
    return this.#secretWatch?.follows(namespace) === true;
  }

  forgetSecret(namespace: string, name: string): void {
    this.#secrets.delete(`${namespace}/${name}`);
  }

  async read(namespace: string, ref: SourceRef, options: ReadOptions = {}): Promise<SourceContent> {
    let object: DataObject | undefined;
    try {
      object =
        ref.kind === 'Secret'
          ? await this.#secret(namespace, ref.name, options)
          : await this.#configMap(namespace, ref.name, options.signal);
    } catch (error) {
      if (!(error instanceof KubeApiError && error.status === 403)) throw error;
      return missing(`the operator may not read ${ref.kind} "${ref.name}": grant it get in this namespace`);
    }
    if (object === undefined) return missing(`${ref.kind} "${ref.name}" does not exist`);
    const refused = ref.kind === 'Secret' ? this.#refusal(namespace, ref.name, object) : undefined;
    if (refused !== undefined) return missing(`Secret "${ref.name}" ${refused}`);
    const bytes = contentOf(object, ref);
    if (bytes === undefined) return missing(`${ref.kind} "${ref.name}" has no key "${ref.key}"`);
    if (bytes.byteLength > CONTENT_LIMIT) {
      return missing(`key "${ref.key}" of ${ref.kind} "${ref.name}" holds more than 1 MiB`);
    }
    return { kind: 'found', bytes };
  }

  async secret(namespace: string, name: string, signal?: AbortSignal): Promise<WholeSecret | undefined> {
    // Not a shared read: whoever has just mended the credentials and asks for a look gets one.
    const object = await this.#readSecret(namespace, name, signal);
    if (object === undefined) return undefined;
    const { uid = '', resourceVersion = '' } = object.metadata;
    const refused = this.#refusal(namespace, name, object);
    const entries = refused === undefined ? Object.entries(object.data ?? {}) : [];
    const data = Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64')]));
    return { version: `${uid}/${resourceVersion}`, type: object.type, data, refused };
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

  #refusal(namespace: string, name: string, object: DataObject): string | undefined {
    if (this.#own.has(`${namespace}/${name}`)) return 'belongs to the operator: use another Secret';
    return secretRefusal(object, this.#selector);
  }

  #secret(namespace: string, name: string, { signal, after }: ReadOptions): Promise<DataObject | undefined> {
    const key = `${namespace}/${name}`;
    const shared = this.#secrets.get(key);
    if (shared !== undefined && (after === undefined || shared.mark > after)) {
      return raceAbort(shared.object, signal);
    }
    // Without the signal of whoever asks first: others may join, and its end is not theirs.
    const read = { mark: this.mark(), object: this.#readSecret(namespace, name) };
    this.#secrets.set(key, read);
    const forget = (): void => {
      if (this.#secrets.get(key) === read) this.#secrets.delete(key);
    };
    // On time, not at the next read: there may be none for hours, and what was read is secret.
    this.#clock.setTimer(SHARED_MS, forget);
    read.object.catch(forget);
    return raceAbort(read.object, signal);
  }

  async #readSecret(namespace: string, name: string, signal?: AbortSignal): Promise<DataObject | undefined> {
    return this.#kube.get<DataObject>(SECRETS, { namespace, name }, { signal });
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
