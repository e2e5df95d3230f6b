import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { ipv6Words } from '../../base/ipv6.ts';
import { TokenBucket } from '../../base/token-bucket.ts';

interface Limit {
  burst: number;
  perSecond: number;
}

/** How many tokens that were never good are asked about. */
export interface StrangerLimits {
  /** From one address; from one network of 64 bits with IPv6. */
  each: Limit;
  /** From all of them together. */
  all: Limit;
  /** Addresses that are remembered. @default 1,024 */
  most?: number;
}

interface Welcome {
  bucket: TokenBucket;
  /** Monotonic. */
  until: number;
}

const MAX_ADDRESSES = 1_024;
const MAX_WELCOME = 64;
/** Tokens of ServiceAccounts are exchanged within the hour, those made by hand less often. */
const WELCOME_MS = 86_400_000;

/**
 * What may be asked about unknown tokens, by where they come from: whoever tries tokens out uses up what his own
 * address has, and all addresses together no more than the API server should hear of. An address from which
 * somebody was let in has a share that nobody else takes from, so that its new token is asked about whatever the
 * others do. The address is that of the connection; what a header says of it anybody can write.
 */
export class StrangerBudget {
  readonly #clock: Clock;
  readonly #limits: StrangerLimits;
  readonly #all: TokenBucket;
  /** In the order of their last use. */
  readonly #each = new Map<string, TokenBucket>();
  readonly #welcome = new Map<string, Welcome>();

  constructor(clock: Clock, limits: StrangerLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#all = new TokenBucket(clock, limits.all);
  }

  /** Whether a token from this address may be asked about. */
  tryTake(address: string | undefined): boolean {
    const welcome = this.#welcome.get(exactly(address));
    if (welcome !== undefined && welcome.until > this.#clock.monotonic()) return welcome.bucket.tryTake();
    // Its own first: what it does not have it cannot take from the others.
    return this.#bucketOf(networkOf(address)).tryTake() && this.#all.tryTake();
  }

  /** Somebody at this address was let in. */
  welcome(address: string | undefined): void {
    const key = exactly(address);
    const bucket = this.#welcome.get(key)?.bucket ?? new TokenBucket(this.#clock, this.#limits.each);
    this.#welcome.delete(key);
    this.#welcome.set(key, { bucket, until: this.#clock.monotonic() + WELCOME_MS });
    dropOldest(this.#welcome, MAX_WELCOME);
  }

  /** Addresses that are remembered because of what they took. */
  get size(): number {
    return this.#each.size;
  }

  #bucketOf(key: string): TokenBucket {
    const bucket = this.#each.get(key) ?? new TokenBucket(this.#clock, this.#limits.each);
    this.#each.delete(key);
    // A full one says as much as none.
    for (const [other, old] of this.#each) {
      if (!old.isFull()) break;
      this.#each.delete(other);
    }
    this.#each.set(key, bucket);
    dropOldest(this.#each, this.#limits.most ?? MAX_ADDRESSES);
    return bucket;
  }
}

/** One spelling for an address; a server for both families has IPv4 inside IPv6. */
function exactly(address = ''): string {
  if (isIP(address) !== 6) return address;
  const words = ipv6Words(address);
  const [a, b, c, d, e, f, high = 0, low = 0] = words;
  if (f === 0xff_ff && [a, b, c, d, e].every((word) => word === 0)) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return words.join(':');
}

/** Who has one address of an IPv6 network of 64 bits can usually take all of them. */
function networkOf(address: string | undefined): string {
  const exact = exactly(address);
  return exact.includes(':') ? exact.split(':', 4).join(':') : exact;
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
