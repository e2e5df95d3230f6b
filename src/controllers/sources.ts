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
import { MemoryBudgetError, weigh, type Hold, type MemoryBudget } from '../base/memory-budget.ts';
import { OWNER_SHARE, Tally } from '../base/tally.ts';
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
export type SourceContent = { kind: 'found'; bytes: Uint8Array } | Missing;

/** Why there is no content, in words for the user, and when to look again where nothing tells of a change. */
export interface Missing {
  kind: 'missing';
  message: string;
  recheckAfterMs?: number;
}

/** Content in hand: it counts against the budget for memory until it is released. */
export type OpenContent = { kind: 'found'; bytes: Uint8Array; release(): void } | Missing;

/** What is known of content without having it in hand. */
export type HashedContent = { kind: 'found'; hash: string; size: number } | Missing;

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
  /**
   * The hash of the content, by a function that gives different text for different content. Of a ConfigMap that has
   * not changed nothing is read again, and of none is more kept than hashes.
   */
  hashed(
    namespace: string,
    ref: SourceRef,
    hash: (bytes: Uint8Array) => string,
    options?: ReadOptions,
  ): Promise<HashedContent>;
  /** The content, for as long as it is in hand. */
  open(namespace: string, ref: SourceRef, options?: ReadOptions): Promise<OpenContent>;
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
  type?: string | undefined;
  data?: Record<string, string> | undefined;
  binaryData?: Record<string, string> | undefined;
}

/** A read of a Secret that others may join. */
interface SharedRead {
  /** When it began, in the order of marks. */
  mark: number;
  object: Promise<DataObject | undefined>;
}

/** What is known of the contents of a ConfigMap, as of one version. */
interface Facts {
  namespace: string;
  version: string;
  sizes: ReadonlyMap<string, number>;
  /** By what the hash function makes of nothing, which tells it from others: the hash of each key. */
  hashes: Map<string, ReadonlyMap<string, string>>;
}

/** Bytes that one key may hold: larger content is refused before it is parsed or sent. */
const CONTENT_LIMIT = 1_048_576;
/** Several resources that share a Secret are looked at together: within this time one read serves all. */
const SHARED_MS = 1_000;
/** What reading an object of 1 MiB takes, as bytes of the network, as text, parsed, and as content. */
const READ_BYTES = 4 * 1_048_576;
/** Keys that one object may hold: hashing more would hold the event loop, and nobody looks through them. */
const MOST_KEYS = 5_000;
/** Keys of ConfigMaps of which hashes are kept, those used last: what nobody refers to any more goes in the end. */
const KEPT_KEYS = 30_000;
/** Where there was no room for it, it is read again after so long, milliseconds. */
const NO_ROOM_MS = 30_000;

const NOTHING = new Uint8Array();

/**
 * Reads through the API server: Secrets by `get` alone, and never kept for longer than {@link SHARED_MS}; ConfigMaps
 * by `get` when the metadata-only watch says that their version is new. Contents are hashed and let go: what has to be
 * sent is read once more.
 */
export class KubeSources implements Sources {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #configMaps: Pick<Informer<StoredObject>, 'get' | 'onChange'>;
  readonly #memory: MemoryBudget;
  readonly #facts = new Map<string, Facts>();
  /** How many keys are known, by namespace. */
  readonly #knownKeys = new Tally();
  readonly #secrets = new Map<string, SharedRead>();
  readonly #secretWatch: Pick<SecretWatch, 'follows'> | undefined;
  readonly #selector: SecretSelector;
  readonly #own: ReadonlySet<string>;
  #marks = 0;

  constructor(options: {
    kube: KubeClient;
    clock: Clock;
    configMaps: Pick<Informer<StoredObject>, 'get' | 'onChange'>;
    memory: MemoryBudget;
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
    this.#memory = options.memory;
    this.#secretWatch = options.secretWatch;
    this.#selector = options.secretSelector ?? new Map();
    this.#own = options.own ?? new Set();
    options.configMaps.onChange(({ type, object }) => {
      if (type === 'deleted') this.#forget(`${object.metadata.namespace}/${object.metadata.name}`);
    });
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
    const content = await this.open(namespace, ref, options);
    if (content.kind === 'missing') return content;
    content.release();
    return { kind: 'found', bytes: content.bytes };
  }

  async open(namespace: string, ref: SourceRef, options: ReadOptions = {}): Promise<OpenContent> {
    const { hold, object } = await this.#object(namespace, ref, options);
    const content = typeof object === 'string' ? missing(object) : contentIn(object, ref);
    if (content.kind === 'found') return { ...content, release: () => hold?.release() };
    hold?.release();
    return hold === undefined ? { ...content, recheckAfterMs: NO_ROOM_MS } : content;
  }

  async hashed(
    namespace: string,
    ref: SourceRef,
    hash: (bytes: Uint8Array) => string,
    options: ReadOptions = {},
  ): Promise<HashedContent> {
    const known = ref.kind === 'ConfigMap' ? this.#known(namespace, ref, hash) : undefined;
    if (known !== undefined) return known;
    const { hold, object } = await this.#object(namespace, ref, options);
    try {
      if (typeof object !== 'string' && ref.kind === 'ConfigMap') this.#note(namespace, object, hash);
      const content = typeof object === 'string' ? missing(object) : contentIn(object, ref);
      if (content.kind === 'found')
        return { kind: 'found', hash: hash(content.bytes), size: content.bytes.byteLength };
      return hold === undefined ? { ...content, recheckAfterMs: NO_ROOM_MS } : content;
    } finally {
      hold?.release();
    }
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

  /** The object, once there is room for it; in words what stands in the way. No hold: there is no room. */
  async #object(
    namespace: string,
    ref: SourceRef,
    options: ReadOptions,
  ): Promise<{ hold: Hold | undefined; object: DataObject | string }> {
    const hold = this.#memory.share(namespace).open('contents');
    try {
      await hold.set(READ_BYTES, options.signal);
      const object =
        ref.kind === 'Secret'
          ? await this.#secret(namespace, ref.name, options)
          : await this.#kube.get<DataObject>(CONFIG_MAPS, { namespace, name: ref.name }, options);
      // The object, and its content as bytes.
      hold.trySet(2 * weigh(object));
      if (ref.kind === 'ConfigMap' && object === undefined) this.#forget(`${namespace}/${ref.name}`);
      if (object === undefined) return { hold, object: `${ref.kind} "${ref.name}" does not exist` };
      if (keysOf(object) > MOST_KEYS) {
        return { hold, object: `${ref.kind} "${ref.name}" has more than ${MOST_KEYS} keys: split it` };
      }
      const refused = ref.kind === 'Secret' ? this.#refusal(namespace, ref.name, object) : undefined;
      return { hold, object: refused === undefined ? object : `Secret "${ref.name}" ${refused}` };
    } catch (error) {
      if (error instanceof MemoryBudgetError) {
        return { hold: undefined, object: `${ref.kind} "${ref.name}" is not read now: ${error.message}` };
      }
      if (error instanceof KubeApiError && error.status === 403) {
        const object = `the operator may not read ${ref.kind} "${ref.name}": grant it get in this namespace`;
        return { hold, object };
      }
      hold.release();
      throw error;
    }
  }

  /** What is known of a ConfigMap that has not changed since. */
  #known(namespace: string, ref: SourceRef, hash: (bytes: Uint8Array) => string): HashedContent | undefined {
    const name = `${namespace}/${ref.name}`;
    const facts = this.#facts.get(name);
    const version = this.#configMaps.get(name)?.metadata.resourceVersion;
    if (facts === undefined || facts.version !== version) return undefined;
    const hashes = facts.hashes.get(hash(NOTHING));
    if (hashes === undefined) return undefined;
    this.#facts.delete(name);
    this.#facts.set(name, facts);
    const known = hashes.get(ref.key);
    const size = facts.sizes.get(ref.key);
    if (known === undefined || size === undefined)
      return missing(`ConfigMap "${ref.name}" has no key "${ref.key}"`);
    return size > CONTENT_LIMIT ? tooLarge(ref) : { kind: 'found', hash: known, size };
  }

  /** Hashes all of a ConfigMap's contents at once: whoever refers to one of them refers to others, as a rule. */
  #note(
    namespace: string,
    { metadata, data, binaryData }: DataObject,
    hash: (bytes: Uint8Array) => string,
  ): void {
    const name = `${namespace}/${metadata.name}`;
    const version = metadata.resourceVersion;
    if (version === undefined) return;
    const known = this.#facts.get(name);
    const sizes = new Map<string, number>();
    const hashes = new Map<string, string>();
    for (const key of [...Object.keys(data ?? {}), ...Object.keys(binaryData ?? {})]) {
      const bytes = bytesOf({ data, binaryData }, { kind: 'ConfigMap', key });
      if (bytes === undefined) continue;
      sizes.set(key, bytes.byteLength);
      hashes.set(key, hash(bytes));
    }
    const before = known?.version === version ? known.hashes : new Map<string, ReadonlyMap<string, string>>();
    this.#forget(name);
    this.#facts.set(name, { namespace, version, sizes, hashes: before.set(hash(NOTHING), hashes) });
    this.#knownKeys.add(namespace, sizes.size);
    for (const [oldest, facts] of this.#facts) {
      const isFull = this.#knownKeys.total > KEPT_KEYS;
      const isOwnFull = this.#knownKeys.of(namespace) > KEPT_KEYS * OWNER_SHARE;
      if (!isFull && !isOwnFull) break;
      if (oldest !== name && (facts.namespace === namespace || !isOwnFull)) this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    const facts = this.#facts.get(name);
    if (facts === undefined) return;
    this.#facts.delete(name);
    this.#knownKeys.add(facts.namespace, -facts.sizes.size);
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
    const hold = this.#memory.share(namespace).open('contents');
    const forget = (): void => {
      hold.release();
      if (this.#secrets.get(key) === read) this.#secrets.delete(key);
    };
    // What there is no room for is nobody's but theirs who have asked.
    const weighed = read.object.then((object) => hold.trySet(weigh(object)) || forget());
    weighed.catch(forget);
    // On time, not at the next read: there may be none for hours, and what was read is secret.
    this.#clock.setTimer(SHARED_MS, forget);
    return raceAbort(read.object, signal);
  }

  async #readSecret(namespace: string, name: string, signal?: AbortSignal): Promise<DataObject | undefined> {
    return this.#kube.get<DataObject>(SECRETS, { namespace, name }, { signal });
  }
}

function contentIn(object: DataObject, ref: SourceRef): SourceContent {
  const bytes = bytesOf(object, ref);
  if (bytes === undefined) return missing(`${ref.kind} "${ref.name}" has no key "${ref.key}"`);
  return bytes.byteLength > CONTENT_LIMIT ? tooLarge(ref) : { kind: 'found', bytes };
}

function bytesOf(
  { data, binaryData }: Pick<DataObject, 'data' | 'binaryData'>,
  { kind, key }: Pick<SourceRef, 'kind' | 'key'>,
): Uint8Array | undefined {
  const text = own(data, key);
  const binary = own(binaryData, key);
  if (kind === 'Secret') return text === undefined ? undefined : Buffer.from(text, 'base64');
  if (text !== undefined) return Buffer.from(text, 'utf8');
  return binary === undefined ? undefined : Buffer.from(binary, 'base64');
}

function keysOf({ data, binaryData }: DataObject): number {
  return Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
}

function own(data: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
}

function missing(message: string): Missing {
  return { kind: 'missing', message };
}

function tooLarge({ kind, name, key }: SourceRef): Missing {
  return missing(`key "${key}" of ${kind} "${name}" holds more than 1 MiB`);
}
