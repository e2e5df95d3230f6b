import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { Logger } from '../../base/logger.ts';
import { KubeApiError, SECRETS, type KubeClient, type KubeObject } from '../../kube/index.ts';
import { canonicalEndpoint, type Credentials } from '../../service/index.ts';

/** Name of the Secret, in the operator's own namespace, that keeps credentials for deletions. */
export const KEPT_SECRET = 'boxwright-kept-credentials';

/** Credentials are kept for so long after their Connection was deleted, milliseconds. */
const KEPT_MS = 24 * 3_600_000;
/** What the API server refuses is tried again after so long, milliseconds. */
const AGAIN_MS = 60_000;
/** The API server takes a Secret of 1 MiB; what is beyond this many characters is not kept. */
const LONGEST = 900_000;

/** What a client is made from. */
export interface Access {
  credentials: Credentials;
  /** Authorities in PEM; undefined: those that Node trusts. */
  ca: string | undefined;
}

/** A Connection that is being deleted. */
export interface Leaving {
  uid: string;
  endpoint: string;
  /** When it was deleted. */
  deletionTimestamp: string;
}

/** One entry as stored: `box` is encrypted, and bound to the rest and to the uid. */
interface Entry {
  endpoint: string;
  until: string;
  iv: string;
  tag: string;
  box: string;
}

interface KeptSecret extends KubeObject {
  data?: Record<string, string>;
}

/**
 * Credentials of Connections that are being deleted, encrypted in one Secret: an operator that restarts meanwhile
 * can still delete the records, though a namespace that ends took the Secret with the credentials first.
 */
export class KeptCredentials {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #key: KeyObject;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #isLiving: (uid: string) => boolean;
  /** By uid; undefined until the Secret is read. */
  #entries: Promise<Map<string, Entry>> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(options: {
    kube: KubeClient;
    /** The operator's own. */
    namespace: string;
    /** For AES-256: 32 bytes. */
    key: KeyObject;
    clock: Clock;
    log: Logger;
    /** Whether a Connection of that uid is in the cluster. */
    isLiving: (uid: string) => boolean;
  }) {
    this.#kube = options.kube;
    this.#namespace = options.namespace;
    this.#key = options.key;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#isLiving = options.isLiving;
  }

  /** Keeps what a Connection's client is made from, until a day after its deletion. Never rejects but when aborted. */
  async keep(
    { uid, endpoint, deletionTimestamp }: Leaving,
    access: Access,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#guarded(signal, async () => {
      const entries = await this.#load(signal);
      const until = Date.parse(deletionTimestamp) + KEPT_MS;
      const kept = entries.get(uid);
      if (!(until > this.#clock.now())) return this.forget(uid, signal);
      if (kept !== undefined && canonicalJson(this.#open(uid, kept)) === canonicalJson(access)) return;
      const entry = this.#seal(uid, { endpoint, until: new Date(until).toISOString() }, access);
      const size = [...entries].reduce((sum, [, other]) => sum + sizeOf(other), sizeOf(entry));
      if (size > LONGEST) {
        this.#log.warn({ connection: uid, kept: entries.size }, 'no room to keep credentials for a deletion');
        return;
      }
      await this.#write({ [uid]: encoded(entry) }, signal);
      entries.set(uid, entry);
    });
  }

  /** What was kept for a Connection of that endpoint; undefined when nothing was, or not any more. */
  async find({ uid, endpoint }: Leaving, signal: AbortSignal): Promise<Access | undefined> {
    let access: Access | undefined;
    await this.#guarded(signal, async () => {
      const entry = (await this.#load(signal)).get(uid);
      if (entry === undefined || canonicalEndpoint(entry.endpoint) !== endpoint) return;
      if (Date.parse(entry.until) > this.#clock.now()) access = this.#open(uid, entry);
      if (access === undefined) await this.forget(uid, signal);
    });
    return access;
  }

  /** The Connection is gone, or its credentials are refused. */
  async forget(uid: string, signal: AbortSignal): Promise<void> {
    await this.#guarded(signal, async () => {
      const entries = await this.#load(signal);
      if (!entries.has(uid)) return;
      await this.#write({ [uid]: null }, signal);
      entries.delete(uid);
    });
  }

  /** What the Secret keeps; it is read once. */
  #load(signal: AbortSignal): Promise<Map<string, Entry>> {
    this.#entries ??= this.#read(signal).catch((error: unknown) => {
      this.#entries = undefined;
      throw error;
    });
    return this.#entries;
  }

  /** Reads the Secret, and clears away what nobody needs any more. */
  async #read(signal: AbortSignal): Promise<Map<string, Entry>> {
    const ref = { namespace: this.#namespace, name: KEPT_SECRET };
    const secret = await this.#kube.get<KeptSecret>(SECRETS, ref, { signal });
    const entries = new Map<string, Entry>();
    const over: Record<string, null> = {};
    for (const [uid, value] of Object.entries(secret?.data ?? {})) {
      const entry = decoded(value);
      const isOver = entry === undefined || !(Date.parse(entry.until) > this.#clock.now());
      if (isOver || !this.#isLiving(uid)) over[uid] = null;
      else entries.set(uid, entry);
    }
    if (Object.keys(over).length > 0) await this.#write(over, signal);
    return entries;
  }

  async #write(data: Record<string, string | null>, signal: AbortSignal): Promise<void> {
    const ref = { namespace: this.#namespace, name: KEPT_SECRET };
    try {
      await this.#kube.mergePatch<KeptSecret>(SECRETS, ref, { data }, { signal });
    } catch (error) {
      if (!(error instanceof KubeApiError && error.isNotFound)) throw error;
      const values = Object.entries(data).filter(([, value]) => value !== null);
      if (values.length === 0) return;
      const made = { metadata: ref, data: Object.fromEntries(values) as Record<string, string> };
      try {
        await this.#kube.create<KeptSecret>(SECRETS, made, { signal });
      } catch (raced) {
        // Another Connection's pass has made it meanwhile.
        if (!(raced instanceof KubeApiError && raced.isAlreadyExists)) throw raced;
        await this.#kube.mergePatch<KeptSecret>(SECRETS, ref, { data }, { signal });
      }
    }
  }

  /** What the API server refuses holds up no deletion: it goes on with what is in memory. */
  async #guarded(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (this.#clock.monotonic() - this.#triedAt < AGAIN_MS) return;
    try {
      await work();
    } catch (error) {
      if (signal.aborted) throw error;
      this.#triedAt = this.#clock.monotonic();
      this.#log.warn({ error, secret: KEPT_SECRET }, 'credentials cannot be kept for deletions');
    }
  }

  #seal(uid: string, { endpoint, until }: Pick<Entry, 'endpoint' | 'until'>, access: Access): Entry {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    cipher.setAAD(boundTo(uid, endpoint, until));
    const box = Buffer.concat([cipher.update(JSON.stringify(access), 'utf8'), cipher.final()]);
    return {
      endpoint,
      until,
      iv: iv.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
      box: box.toString('base64'),
    };
  }

  /** Undefined for what another key, or nobody who has one, has sealed. */
  #open(uid: string, { endpoint, until, iv, tag, box }: Entry): Access | undefined {
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, Buffer.from(iv, 'base64'), {
        authTagLength: 16,
      });
      decipher.setAAD(boundTo(uid, endpoint, until));
      decipher.setAuthTag(Buffer.from(tag, 'base64'));
      const text = Buffer.concat([decipher.update(Buffer.from(box, 'base64')), decipher.final()]);
      return JSON.parse(text.toString('utf8')) as Access;
    } catch {
      return undefined;
    }
  }
}

function boundTo(...parts: readonly string[]): Buffer {
  return Buffer.from(canonicalJson(parts), 'utf8');
}

function encoded(entry: Entry): string {
  return Buffer.from(JSON.stringify(entry), 'utf8').toString('base64');
}

function sizeOf(entry: Entry): number {
  return encoded(entry).length;
}

function decoded(value: string): Entry | undefined {
  try {
    const entry = JSON.parse(Buffer.from(value, 'base64').toString('utf8')) as Entry;
    const fields = [entry.endpoint, entry.until, entry.iv, entry.tag, entry.box];
    return fields.every((field) => typeof field === 'string') ? entry : undefined;
  } catch {
    return undefined;
  }
}
