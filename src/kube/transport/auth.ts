import type { Clock } from '../../base/clock.ts';
import type { HttpProxy } from '../../base/proxy/settings.ts';
import { sameJson } from '../patches.ts';

/** Where the API server is and how to speak to it: everything that may change while the process runs. */
export interface ClusterAccess {
  /** Such as `https://10.0.0.1:443`; may have a path. */
  server: string;
  /** Authorization and Impersonate-User, names in lower case. */
  headers: Readonly<Record<string, string>>;
  tls: TlsMaterial;
  /** Where connections go through. */
  proxy?: HttpProxy;
}

/** PEM, as Node's tls takes it. */
export interface TlsMaterial {
  ca?: string;
  cert?: string;
  key?: string;
  servername?: string;
  /** `false` only when the kubeconfig says insecure-skip-tls-verify. */
  rejectUnauthorized?: boolean;
}

/** Gives the present access. */
export interface AccessSource {
  /**
   * @param fresh - true after a 401: caches of tokens and credentials are to be passed by
   * @throws {@link KubeCredentialsError}
   */
  access(fresh: boolean): Promise<ClusterAccess>;
}

/** Thrown when credentials for the API server cannot be had: missing file, failing exec plugin. */
export class KubeCredentialsError extends Error {
  readonly code = 'KubeCredentials';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KubeCredentialsError';
  }
}

/** Bound tokens are renewed by the kubelet well before they expire: client-go too looks once a minute. */
const LOOK_AGAIN_MS = 60_000;
/** After a failed look the last access is used, and this long later there is another look. */
const FAILED_LOOK_MS = 10_000;
/** A wrong credential is not asked for again with each call that it fails. */
const FRESH_AT_MOST_EVERY_MS = 5_000;
/** An exec plugin may open a browser or ask a slow identity provider. */
const SOURCE_DEADLINE_MS = 60_000;

/**
 * Keeps the access of a source for a minute. However many calls ask at once, the source is asked once: an
 * exec plugin runs one process, not one per call.
 */
export class CachedAccess {
  readonly #source: AccessSource;
  readonly #clock: Clock;
  #known: ClusterAccess | undefined;
  #lookAgainAt = 0;
  #freshAllowedAt = 0;
  #looking: Promise<ClusterAccess> | undefined;

  constructor(source: AccessSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** @throws {@link KubeCredentialsError} when there never was an access */
  async current(): Promise<ClusterAccess> {
    const known = this.#known;
    if (known !== undefined && this.#clock.monotonic() < this.#lookAgainAt) return known;
    try {
      return await this.#look(false);
    } catch (error) {
      if (known === undefined) throw error;
      // A file that is just being replaced, a plugin that failed once: the last access may well still do.
      this.#lookAgainAt = this.#clock.monotonic() + FAILED_LOOK_MS;
      return known;
    }
  }

  /** After a 401 with `refused`: another access, or undefined when there is none to be had. */
  async another(refused: ClusterAccess): Promise<ClusterAccess | undefined> {
    if (this.#known !== undefined && !sameAccess(this.#known, refused)) return this.#known;
    if (this.#looking === undefined && this.#clock.monotonic() < this.#freshAllowedAt) return undefined;
    try {
      const access = await this.#look(true);
      return sameAccess(access, refused) ? undefined : access;
    } catch {
      // The caller reports the 401, which says more than a plugin's exit code.
      return undefined;
    }
  }

  #look(fresh: boolean): Promise<ClusterAccess> {
    this.#looking ??= this.#ask(fresh).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #ask(fresh: boolean): Promise<ClusterAccess> {
    if (fresh) this.#freshAllowedAt = this.#clock.monotonic() + FRESH_AT_MOST_EVERY_MS;
    const access = await this.#withDeadline(this.#source.access(fresh));
    this.#known = access;
    this.#lookAgainAt = this.#clock.monotonic() + LOOK_AGAIN_MS;
    return access;
  }

  #withDeadline(asked: Promise<ClusterAccess>): Promise<ClusterAccess> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(SOURCE_DEADLINE_MS, () => {
        reject(new KubeCredentialsError(`no credentials for the API server within ${SOURCE_DEADLINE_MS} ms`));
      });
      asked.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

function sameAccess(a: ClusterAccess, b: ClusterAccess): boolean {
  return a === b || sameJson(a, b);
}
