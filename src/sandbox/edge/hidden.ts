import { notFound } from '../http.ts';
import type { Outcome } from './route.ts';

/** How long a new record answers 404 on its own path: that many reads. */
export interface HideCreated {
  reads: number;
}

const CREATES = new Set([
  '/services/boxes',
  '/services/instances',
  '/services/providers',
  '/services/workspaces',
]);

/** 404 right after create: the service has taken the record but does not show it yet. */
export class Hidden {
  #reads = 0;
  readonly #hidden = new Map<string, number>();

  set(hide: HideCreated): void {
    this.#reads = hide.reads;
    if (hide.reads === 0) this.#hidden.clear();
  }

  /** Notes what was created. */
  created(method: string, path: string, outcome: Outcome): void {
    if (this.#reads === 0 || method !== 'POST' || !CREATES.has(path)) return;
    const record =
      outcome.kind === 'text'
        ? (JSON.parse(outcome.text) as { id?: string })
        : outcome.kind === 'json'
          ? (outcome.value as { id?: string })
          : {};
    if (record.id !== undefined) this.#hidden.set(record.id, this.#reads);
  }

  /** @throws Refusal 404 while the record of the path is hidden */
  check(method: string, params: Readonly<Record<string, string>>): void {
    if (method !== 'GET' || this.#hidden.size === 0) return;
    for (const id of Object.values(params)) {
      const left = this.#hidden.get(id);
      if (left === undefined) continue;
      if (left <= 1) this.#hidden.delete(id);
      else this.#hidden.set(id, left - 1);
      throw notFound(`there is no record ${id} yet`);
    }
  }
}
