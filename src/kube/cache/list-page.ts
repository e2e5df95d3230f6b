import type { KubeObject } from '../object.ts';

/** One page of a list. */
export interface Page {
  items: readonly unknown[];
  version: string;
  next: string | undefined;
}

/**
 * Reads a page; its items are judged one by one, see {@link named}.
 * @throws MalformedAnswerError
 */
export function parsePage(body: unknown, path: string): Page {
  const list = body as {
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  } | null;
  const version = list?.metadata?.resourceVersion;
  const items = list?.items ?? [];
  if (typeof version !== 'string' || version === '' || !Array.isArray(items)) throw noList(path);
  const next = list?.metadata?.continue;
  return { items, version, next: typeof next === 'string' && next !== '' ? next : undefined };
}

/**
 * An item of a page.
 * @throws MalformedAnswerError
 */
export function named(item: unknown, path: string): KubeObject {
  if (!hasName(item)) throw noList(path);
  return item;
}

function noList(path: string): MalformedAnswerError {
  return new MalformedAnswerError(`${path}: the answer is no Kubernetes list`);
}

/** Whether something from the API server is an object with a name. */
export function hasName(object: unknown): object is KubeObject {
  const metadata = (object as { metadata?: { name?: unknown } } | null)?.metadata;
  return typeof metadata?.name === 'string' && metadata.name !== '';
}

/** The resourceVersion of an object or a bookmark. */
export function versionIn(object: unknown): string | undefined {
  const version = (object as { metadata?: { resourceVersion?: unknown } } | null)?.metadata?.resourceVersion;
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/** Thrown inside for an answer that is no list and no watch line; surfaces in notices only. */
export class MalformedAnswerError extends Error {
  readonly code = 'MalformedAnswer';
  constructor(message: string) {
    super(message);
    this.name = 'MalformedAnswerError';
  }
}
