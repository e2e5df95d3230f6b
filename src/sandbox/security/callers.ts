import { callerOf } from '../access.ts';
import type { Caller, Service } from '../service.ts';
import { tokenHash, tokenOf } from './tokens.ts';

const MAX_KEPT = 1_000;

/** Who a request comes from; kept until tokens, users or workspaces change. */
export class Callers {
  readonly #service: Service;
  #kept = new Map<string, Caller | undefined>();
  #state = '';

  constructor(service: Service) {
    this.#service = service;
  }

  /** The caller by the token of the request, undefined without a valid one. */
  of(method: string, headers: Readonly<Record<string, string>>): Caller | undefined {
    const token = tokenOf(method, headers);
    if (token === undefined) return undefined;
    const { tokens, accounts, workspaces } = this.#service.store;
    const state = `${tokens.seq} ${accounts.seq} ${workspaces.seq}`;
    if (state !== this.#state || this.#kept.size > MAX_KEPT) {
      this.#kept = new Map();
      this.#state = state;
    }
    if (!this.#kept.has(token)) this.#kept.set(token, this.#find(token));
    return this.#kept.get(token);
  }

  #find(token: string): Caller | undefined {
    const known = this.#service.store.tokens.get(tokenHash(token));
    return known === undefined ? undefined : callerOf(this.#service, known.account);
  }
}
