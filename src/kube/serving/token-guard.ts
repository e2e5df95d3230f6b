import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { silentLogger, type Logger } from '../../base/logger.ts';
import type { KubePort } from '../port.ts';
import { ALLOWED, type Guard, type Refusal, type Verdict } from './guard.ts';
import { ReviewError, Reviews, type NonResource } from './reviews.ts';
import { StrangerBudget } from './stranger-budget.ts';

export interface TokenGuardOptions {
  port: KubePort;
  clock: Clock;
  logger?: Logger;
  /** What whoever shows a token has to be allowed. @default get of /metrics */
  wanted?: NonResource;
}

/** How long somebody who may read is not asked about again: so long a right that is taken away still works. */
const ALLOWED_MS = 60_000;
/** How long somebody who may not is not asked about again. */
const REFUSED_MS = 10_000;
/** After the API server could not say. */
const UNKNOWN_MS = 1_000;
/** Tokens that were good are remembered up to this number, others up to that. */
const MAX_GOOD = 64;
const MAX_BAD = 512;
/** So many tokens that were never good are asked about at once, and then each second. */
const STRANGERS = { each: { burst: 20, perSecond: 5 }, all: { burst: 100, perSecond: 20 } };
const WARN_EVERY_MS = 60_000;
/** RFC 6750 section 2.1. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

const NO_TOKEN = unauthorized('show the bearer token of a ServiceAccount that may get /metrics');
const BAD_TOKEN = unauthorized('the API server does not know the token');
const FORBIDDEN: Refusal = {
  kind: 'refused',
  status: 403,
  text: 'the owner of the token may not get /metrics: bind a ClusterRole with this nonResourceURL',
};
const MISCONFIGURED: Refusal = {
  kind: 'refused',
  status: 500,
  text: 'the operator may not ask the API server who you are: bind its ServiceAccount to system:auth-delegator',
};
const UNAVAILABLE: Refusal = {
  kind: 'refused',
  status: 503,
  text: 'the API server cannot say who you are: try again',
  headers: { 'retry-after': '1' },
};
const TOO_MANY: Refusal = {
  kind: 'refused',
  status: 429,
  text: 'too many unknown tokens: try again',
  headers: { 'retry-after': '1' },
};

interface Remembered {
  verdict: Verdict;
  /** Monotonic. */
  until: number;
}

/**
 * Lets in who shows a token that the API server knows and to whom it allows what is wanted. What it said is
 * remembered for a short time, by hash; tokens that were never good cannot keep those that were from being
 * asked about again, nor those from other addresses, nor ask more of the API server than some reviews a second.
 */
export class TokenGuard implements Guard {
  readonly #reviews: Reviews;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #wanted: NonResource;
  readonly #good = new Map<string, Remembered>();
  readonly #bad = new Map<string, Remembered>();
  readonly #asked = new Map<string, Promise<Verdict>>();
  readonly #strangers: StrangerBudget;
  #warnedAt = -Infinity;

  constructor({ port, clock, logger = silentLogger, wanted }: TokenGuardOptions) {
    this.#reviews = new Reviews(port);
    this.#clock = clock;
    this.#logger = logger;
    this.#wanted = wanted ?? { path: '/metrics', verb: 'get' };
    this.#strangers = new StrangerBudget(clock, STRANGERS);
  }

  async judge({ headers: { authorization }, socket: { remoteAddress } }: IncomingMessage): Promise<Verdict> {
    if (authorization === undefined || authorization === '') return NO_TOKEN;
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) return BAD_TOKEN;
    const key = createHash('sha256').update(token).digest('base64');
    const now = this.#clock.monotonic();
    const good = this.#good.get(key);
    for (const known of [good, this.#bad.get(key)]) {
      if (known !== undefined && known.until > now) return known.verdict;
    }
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    if (good === undefined && !this.#strangers.tryTake(remoteAddress)) return TOO_MANY;
    const asking = this.#review(token).then((verdict) => {
      this.#remember(key, verdict);
      if (verdict.kind === 'allowed') this.#strangers.welcome(remoteAddress);
      return verdict;
    });
    this.#asked.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#asked.delete(key);
    }
  }

  /** Never rejects. */
  async #review(token: string): Promise<Verdict> {
    try {
      const identity = await this.#reviews.identify(token);
      if (identity === undefined) return BAD_TOKEN;
      return (await this.#reviews.permits(identity, this.#wanted)) ? ALLOWED : FORBIDDEN;
    } catch (error) {
      const forbidden = error instanceof ReviewError && error.isForbidden;
      this.#warn(error, forbidden);
      return forbidden ? MISCONFIGURED : UNAVAILABLE;
    }
  }

  #remember(key: string, verdict: Verdict): void {
    const now = this.#clock.monotonic();
    if (verdict.kind === 'allowed') {
      this.#bad.delete(key);
      put(this.#good, key, { verdict, until: now + ALLOWED_MS }, MAX_GOOD);
      return;
    }
    const unsure = verdict.status >= 500;
    // Whoever was good stays so in rank while the API server cannot say; he is not let in.
    if (!unsure) this.#good.delete(key);
    put(this.#bad, key, { verdict, until: now + (unsure ? UNKNOWN_MS : REFUSED_MS) }, MAX_BAD);
  }

  #warn(error: unknown, forbidden: boolean): void {
    const now = this.#clock.monotonic();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    // Its own words, not the error: nothing of a review gets into the log.
    const why = error instanceof Error ? error.message : 'unknown';
    this.#logger.warn(
      { why },
      forbidden
        ? 'metrics are refused to everybody: this ServiceAccount may not create tokenreviews and subjectaccessreviews, bind it to system:auth-delegator'
        : 'metrics are refused: the API server cannot say who asks',
    );
  }
}

function unauthorized(text: string): Refusal {
  return { kind: 'refused', status: 401, text, headers: { 'www-authenticate': 'Bearer realm="metrics"' } };
}

/** The oldest goes when there are too many. */
function put(map: Map<string, Remembered>, key: string, value: Remembered, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
