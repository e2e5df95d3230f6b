import type { Box } from '../../api/box.ts';

/** The way round when a box contains itself through its Box variables; undefined when it does not. */
export function boxCycle(
  box: Pick<Box, 'metadata' | 'spec'>,
  find: (name: string) => (Pick<Box, 'metadata' | 'spec'> & { problems?: unknown }) | undefined,
): string[] | undefined {
  const start = box.metadata.name;
  const visited = new Set<string>();
  const walk = (current: Pick<Box, 'metadata' | 'spec'>, path: string[]): string[] | undefined => {
    for (const variable of current.spec.variables) {
      const next = variable.boxRef?.name;
      if (next === undefined) continue;
      if (next === start) return [...path, next];
      if (visited.has(next)) continue;
      visited.add(next);
      const nested = find(next);
      if (nested === undefined || nested.problems !== undefined) continue;
      const found = walk(nested, [...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(box, [start]);
}
