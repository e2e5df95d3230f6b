import type { Box } from '../../api/box.ts';

/** What of a box says what it contains. */
export type Nesting = Pick<Box, 'metadata' | 'spec'> & { problems?: unknown };

/** The Box that a Box variable of another names, by name or by id; undefined when it is not one of this cluster. */
export type FindNested = (variable: Box['spec']['variables'][number]) => Nesting | undefined;

/** The way round when a box contains itself through its Box variables; undefined when it does not. */
export function boxCycle(box: Nesting, find: FindNested): string[] | undefined {
  const start = box.metadata.name;
  const visited = new Set<string>();
  const walk = (current: Nesting, path: string[]): string[] | undefined => {
    for (const variable of current.spec.variables) {
      if (variable.type !== 'Box') continue;
      const nested = find(variable);
      const next = nested?.metadata.name ?? variable.boxRef?.name;
      if (next === undefined) continue;
      if (next === start) return [...path, next];
      if (visited.has(next)) continue;
      visited.add(next);
      if (nested === undefined || nested.problems !== undefined) continue;
      const found = walk(nested, [...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(box, [start]);
}
