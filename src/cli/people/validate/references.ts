import { KINDS, referencesOf } from '../../../api/kinds.ts';
import { mostSimilar } from '../../../base/similar.ts';
import type { Loaded } from './files.ts';
import { findingAt, type Finding, type Valid } from './finding.ts';

/** Everything in the files that a resource may refer to, by kind, namespace and name. */
export class Tree {
  readonly #objects = new Map<string, Map<string, unknown>>();

  /** Takes an object; false where it was there already. */
  add(kind: string, namespace: string, name: string, object: unknown): boolean {
    const key = `${kind}/${namespace}`;
    const names = this.#objects.get(key) ?? new Map<string, unknown>();
    this.#objects.set(key, names);
    const isNew = !names.has(name);
    names.set(name, object);
    return isNew;
  }

  get(kind: string, namespace: string, name: string): unknown {
    return this.#objects.get(`${kind}/${namespace}`)?.get(name);
  }

  names(kind: string, namespace: string): string[] {
    return [...(this.#objects.get(`${kind}/${namespace}`)?.keys() ?? [])];
  }
}

/** References of a resource that lead nowhere in the files. */
export function referenceFindings({ resource, from }: Valid, tree: Tree): Finding[] {
  const { kind, metadata } = resource;
  const about = { kind, namespace: metadata.namespace, name: metadata.name };
  return referencesOf(resource).flatMap(({ path, kind: target, name, key }) => {
    const object = tree.get(target, about.namespace, name);
    if (object === undefined) return [absent(from, about, tree, { path, target, name })];
    if (key === undefined) return [];
    const keys = keysOf(object);
    if (keys === undefined || keys.includes(key)) return [];
    const meant = mostSimilar(key, keys);
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
    return [findingAt(from, about, `${path}.key`, `${target} ${name} has no key ${key}${guess}`)];
  });
}

/** Near a name that is there it is a typo; else it may be in the cluster. */
function absent(
  from: Loaded,
  about: { kind: string; namespace: string; name: string },
  tree: Tree,
  { path, target, name }: { path: string; target: string; name: string },
): Finding {
  const meant = mostSimilar(name, tree.names(target, about.namespace));
  const isOurs = KINDS.some(({ kind }) => kind === target);
  if (meant !== undefined && isOurs) {
    return findingAt(
      from,
      about,
      `${path}.name`,
      `there is no ${target} ${name} in these files; did you mean ${meant}?`,
    );
  }
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
  const message = `${target} ${name} is not in these files: it has to be in the cluster${guess}`;
  return findingAt(from, about, `${path}.name`, message, 'warning');
}

/** The keys of a ConfigMap or a Secret. */
function keysOf(object: unknown): string[] | undefined {
  const { data, stringData, binaryData } = object as Record<
    string,
    Record<string, unknown> | null | undefined
  >;
  const all = [data, stringData, binaryData];
  return all.flatMap((part) => Object.keys(part ?? {}));
}
