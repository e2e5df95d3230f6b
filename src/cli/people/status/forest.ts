import { KINDS, kindOf, type KindName } from '../../../api/kinds.ts';
import { findReferences } from '../../../api/schema/references.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import { entryOf, type Entry } from './entry.ts';

/** A resource, and those that belong to it. */
export interface Tree {
  /** Undefined: something refers to it, and it is not there. */
  entry: Entry | undefined;
  kind: string;
  namespace: string;
  name: string;
  /** What it belongs to. */
  parent: { kind: string; name: string } | undefined;
  children: Tree[];
}

const ORDER = new Map<string, number>(KINDS.map(({ kind }, index) => [kind, index]));

/**
 * The resources as trees, each under the one that it belongs to. The definitions alone decide that: it is the first
 * reference in the spec to a kind earlier in KINDS, and only in want of others one to a kind that builds on none.
 */
export function forestOf(resources: readonly WatchedResource[]): Tree[] {
  const nodes = new Map<string, Tree>();
  const present: Tree[] = [];
  for (const resource of resources) {
    const entry = entryOf(resource);
    const { kind, namespace, name } = entry;
    const node: Tree = { entry, kind, namespace, name, parent: parentOf(resource), children: [] };
    nodes.set(keyOf(kind, namespace, name), node);
    present.push(node);
  }
  const roots: Tree[] = [];
  for (const node of present) {
    const { parent, namespace } = node;
    if (parent === undefined) {
      roots.push(node);
      continue;
    }
    const key = keyOf(parent.kind, namespace, parent.name);
    let above = nodes.get(key);
    if (above === undefined) {
      above = { entry: undefined, ...parent, namespace, parent: undefined, children: [] };
      nodes.set(key, above);
      roots.push(above);
    }
    above.children.push(node);
  }
  return sorted(roots);
}

/** What is left of the trees where only some resources matter: those, and all above and below them. */
export function pruned(trees: readonly Tree[], matters: (tree: Tree) => boolean): Tree[] {
  return trees.flatMap((tree) => {
    if (matters(tree)) return [tree];
    const children = pruned(tree.children, matters);
    return children.length === 0 ? [] : [{ ...tree, children }];
  });
}

/** Every resource of the trees, from the top down. */
export function flat(trees: readonly Tree[]): Tree[] {
  return trees.flatMap((tree) => [tree, ...flat(tree.children)]);
}

/** What a resource belongs to, by the definition of its kind. */
export function parentOf(resource: WatchedResource): { kind: string; name: string } | undefined {
  const { kind = '' } = resource;
  const own = ORDER.get(kind) ?? 0;
  const above = findReferences(kindOf(kind as KindName).schema, resource)
    // A reference within a list is one of many.
    .filter(({ path, kind: target }) => !path.includes('[') && (ORDER.get(target) ?? own) < own);
  const found = above.find(({ kind: target }) => !isRoot(target)) ?? above[0];
  return found === undefined ? undefined : { kind: found.kind, name: found.name };
}

/** A kind that builds on no other. */
function isRoot(kind: string): boolean {
  return ORDER.get(kind) === 0;
}

function sorted(trees: readonly Tree[]): Tree[] {
  return trees
    .map((tree) => ({ ...tree, children: sorted(tree.children) }))
    .toSorted(
      (a, b) =>
        a.namespace.localeCompare(b.namespace) ||
        (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0) ||
        a.name.localeCompare(b.name),
    );
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
