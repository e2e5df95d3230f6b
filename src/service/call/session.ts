import { raceAbort } from '../../base/race-abort.ts';
import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { SecretSet } from '../../base/masking/secret-set.ts';
import { ServiceError } from '../errors.ts';

/** What proves who calls. */
export type Credentials =
  { kind: 'token'; token: string } | { kind: 'password'; email: string; password: string };

/** A token and which login it came from. */
export interface Token {
  readonly value: string;
  readonly generation: number;
}

export type LoginResult = { kind: 'token'; value: string } | { kind: 'error'; error: ServiceError };
export type TokenResult = { kind: 'token'; token: Token } | { kind: 'error'; error: ServiceError };

export interface SessionOptions {
  credentials: Credentials;
  /** Sends the login call. Never rejects but when the client is closed. */
  login(email: string, password: string): Promise<LoginResult>;
  /** Learns the credential and every token got with it. */
  secrets: SecretSet;
  clock: Clock;
  random: Random;
}

const quietTimes: Curve = { firstMs: 10_000, longestMs: 300_000 };

/**
 * Holds the token of one client. With email and password it logs in when first needed and once more when a
 * token is refused, one login at a time for all callers; credentials that were refused are not tried again
 * for 10 s, doubling to 5 min, so that a wrong password does not lock the account.
 */
export class Session {
  readonly #options: SessionOptions;
  #token: Token | undefined;
  #generation = 0;
  #login: Promise<TokenResult> | undefined;
  #refusals = 0;
  /** Generation of the newest token that the service has let in. */
  #letIn: number | undefined;
  #quiet: { until: number; error: ServiceError } | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { credentials } = options;
    this.#note();
    if (credentials.kind === 'token') this.#token = { value: credentials.token.trim(), generation: 0 };
  }

  /** The present token, after a login where there is none. Rejects only with the signal's reason. */
  async token(signal?: AbortSignal): Promise<TokenResult> {
    // Whatever else was noted since, it is what goes with the next call.
    this.#note();
    if (this.#token !== undefined) return checked(this.#token);
    return this.#quietError() ?? (await raceAbort(this.#loginOnce(), signal));
  }

  /** Another token after `refused` got a 401: that of a later login, or of a new one. Undefined: there is none. */
  async renew(refused: Token, signal?: AbortSignal): Promise<TokenResult | undefined> {
    if (this.#options.credentials.kind === 'token') return undefined;
    const present = this.#token;
    if (present !== undefined && present.generation > refused.generation)
      return { kind: 'token', token: present };
    if (this.#login === undefined && this.#quietError() !== undefined) return undefined;
    return raceAbort(this.#loginOnce(), signal);
  }

  /** The service let the token in: whatever was refused before is over. */
  accepted({ generation }: Token): void {
    this.#refusals = 0;
    this.#quiet = undefined;
    this.#letIn = Math.max(this.#letIn ?? 0, generation);
  }

  /** Whether the service has let the token in, for whatever call. */
  wasLetIn({ generation }: Token): boolean {
    return this.#letIn === generation;
  }

  /** The next call logs in anew, whatever was refused before; a fixed token stays. */
  startOver(): void {
    this.#quiet = undefined;
    if (this.#options.credentials.kind === 'password') this.#token = undefined;
  }

  /** A token of a fresh login was refused: logging in again at once would not help. */
  refusedFresh(error: ServiceError): void {
    if (this.#quietError() === undefined) this.#beQuiet(error);
  }

  #note(): void {
    const { credentials, secrets } = this.#options;
    secrets.note(credentials.kind === 'token' ? credentials.token : credentials.password);
    if (this.#token !== undefined) secrets.note(this.#token.value);
  }

  #loginOnce(): Promise<TokenResult> {
    this.#login ??= this.#doLogin().finally(() => {
      this.#login = undefined;
    });
    return this.#login;
  }

  async #doLogin(): Promise<TokenResult> {
    const { credentials } = this.#options;
    if (credentials.kind === 'token') return checked({ value: credentials.token.trim(), generation: 0 });
    const result = await this.#options.login(credentials.email, credentials.password);
    if (result.kind === 'error') {
      if (result.error.code === 'CredentialsRejected') this.#beQuiet(result.error);
      return result;
    }
    this.#options.secrets.note(result.value);
    this.#token = { value: result.value, generation: ++this.#generation };
    return { kind: 'token', token: this.#token };
  }

  #beQuiet(error: ServiceError): void {
    const { clock, random } = this.#options;
    const wait = backoffMs(++this.#refusals, quietTimes, random);
    this.#quiet = { until: clock.monotonic() + wait, error };
  }

  #quietError(): { kind: 'error'; error: ServiceError } | undefined {
    const quiet = this.#quiet;
    if (quiet === undefined || quiet.until <= this.#options.clock.monotonic()) return undefined;
    return { kind: 'error', error: quiet.error };
  }
}

/** Whether a text can travel as a header value and in a cookie. */
export function isTokenText(value: string): boolean {
  return value.length <= 8_192 && /^[\x21-\x7e]+$/.test(value);
}

function checked(token: Token): TokenResult {
  if (isTokenText(token.value)) return { kind: 'token', token };
  return {
    kind: 'error',
    error: new ServiceError({
      code: 'CredentialsUnusable',
      method: 'GET',
      template: '/services',
      detail: 'the token is empty or holds characters that cannot travel in a header; check the Secret',
    }),
  };
}
