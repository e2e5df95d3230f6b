import type { Named } from '../kind-name.ts';
import { flat, pruned, type Tree } from './forest.ts';

/** The trees of what was named, all of them where nothing was; and what was named and is not there. */
export function chosen(
  trees: readonly Tree[],
  named: readonly Named[],
): { trees: readonly Tree[]; absent: string[] } {
  if (named.length === 0) return { trees, absent: [] };
  const all = flat(trees).filter(({ entry }) => entry !== undefined);
  const absent = named
    .filter((one) => one.name !== undefined && !all.some((tree) => fits(tree, one)))
    .map(({ definition, name }) => `${definition.kind}/${name}`);
  return { trees: pruned(trees, (tree) => named.some((one) => fits(tree, one))), absent };
}

function fits(tree: Tree, { definition, name }: Named): boolean {
  return tree.kind === definition.kind && (name === undefined || tree.name === name);
}
