import type { StoredObject } from './objects.ts';
import { badRequest, Refusal } from './refusals.ts';

interface OpenList {
  version: number;
  rest: StoredObject[];
}

/**
 * Lists in pages. All pages of one list show one version; a token is refused once the history before that
 * version is gone.
 */
export class Pages {
  readonly #open = new Map<string, OpenList>();
  #made = 0;

  /** The first page of `all`. */
  begin(all: StoredObject[], version: number, limit: number | undefined): Page {
    return this.#page({ version, rest: all }, limit);
  }

  /** The page behind a token; tokens can be used again. */
  resume(token: string, limit: number | undefined, compactedTo: number): Page {
    const list = this.#open.get(token);
    if (list === undefined) throw badRequest('continue key is not valid');
    if (list.version < compactedTo) {
      throw new Refusal(
        410,
        'Expired',
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
      );
    }
    return this.#page(list, limit);
  }

  #page(list: OpenList, limit: number | undefined): Page {
    if (limit === undefined || limit <= 0 || list.rest.length <= limit) {
      return { items: list.rest, version: list.version };
    }
    const rest = list.rest.slice(limit);
    this.#made += 1;
    const token = Buffer.from(`page ${this.#made} at ${list.version}`).toString('base64url');
    this.#open.set(token, { version: list.version, rest });
    return { items: list.rest.slice(0, limit), version: list.version, next: token, remaining: rest.length };
  }
}

export interface Page {
  items: StoredObject[];
  version: number;
  next?: string;
  remaining?: number;
}
