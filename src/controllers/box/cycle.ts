import type { Box } from '../../api/box.ts';

/** What of a box says what it contains. */
export type Nesting = Pick<Box, 'metadata' | 'spec'> & { problems?: unknown };

/** The Box that a Box variable of another names, by name or by id; undefined when it is not one of this cluster. */
export type FindNested = (variable: Box['spec']['variables'][number]) => Nesting | undefined;

/** So far boxes are followed below a box: a stack of containers is a few levels, and each pass looks at all of it. */
export const NESTING_LIMIT = { levels: 32, boxes: 500 };

/** So many boxes are looked at before two are taken to contain each other: the service's answer decides then. */
const LOOKED_AT_LIMIT = 10_000;

/** A box below another, and the one that names it. */
interface Below {
  name: string;
  level: number;
  above: Below | undefined;
}

/** What is wrong with what a box contains. */
export type Misnesting =
  /** The way round: it contains itself. */
  | { kind: 'cycle'; path: string[] }
  /** More levels, or more boxes, than are followed; the way to the first that is one too many. */
  | { kind: 'tooMany'; path: string[] };

/** What is wrong with the boxes that a box contains through its Box variables; undefined when nothing is. */
export function misnesting(box: Nesting, find: FindNested): Misnesting | undefined {
  let boxes = 0;
  for (const below of boxesBelow(box, find)) {
    if (below.name === box.metadata.name) return { kind: 'cycle', path: wayTo(below) };
    boxes += 1;
    if (below.level > NESTING_LIMIT.levels || boxes > NESTING_LIMIT.boxes) {
      return { kind: 'tooMany', path: wayTo(below) };
    }
  }
  return undefined;
}

/** Whether a box contains another, at any depth. */
export function containsBox(box: Nesting, name: string, find: FindNested): boolean {
  let boxes = 0;
  for (const below of boxesBelow(box, find)) {
    boxes += 1;
    if (below.name === name || boxes > LOOKED_AT_LIMIT) return true;
  }
  return false;
}

/** All boxes below a box, nearest first, each once; the box itself at the end of each way round. */
function* boxesBelow(box: Nesting, find: FindNested): Generator<Below, void, undefined> {
  const start = box.metadata.name;
  const seen = new Set<string>();
  const open: { box: Nesting; at: Below }[] = [{ box, at: { name: start, level: 0, above: undefined } }];
  // What is found while the list is walked is walked as well.
  for (const { box: current, at } of open) {
    for (const variable of current.spec.variables) {
      if (variable.type !== 'Box') continue;
      const nested = find(variable);
      const name = nested?.metadata.name ?? variable.boxRef?.name;
      if (name === undefined || seen.has(name)) continue;
      const below: Below = { name, level: at.level + 1, above: at };
      yield below;
      if (name === start) continue;
      seen.add(name);
      if (nested !== undefined && nested.problems === undefined) open.push({ box: nested, at: below });
    }
  }
}

function wayTo(last: Below): string[] {
  const names: string[] = [];
  for (let at: Below | undefined = last; at !== undefined; at = at.above) names.unshift(at.name);
  return names;
}
