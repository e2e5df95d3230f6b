import type { Box } from '../../api/box.ts';

/** What of a box says what it contains. */
export type Nesting = Pick<Box, 'metadata' | 'spec'> & { problems?: unknown };

/** The Box that a Box variable of another names, by name or by id; undefined when it is not one of this cluster. */
export type FindNested = (variable: {
  boxRef?: { name: string } | undefined;
  boxId?: string | undefined;
}) => Nesting | undefined;

/** So far boxes are followed below a box: a stack of containers is a few levels, and each pass looks at all of it. */
export const NESTING_LIMIT = { levels: 32, boxes: 500 };

/** So many variables are looked at before two are taken to contain each other: the service's answer decides then. */
const LOOKED_AT_LIMIT = 20_000;

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
  for (const below of boxesBelow(box, find, ['Box'])) {
    if (below.name === box.metadata.name) return { kind: 'cycle', path: wayTo(below) };
    boxes += 1;
    if (below.level > NESTING_LIMIT.levels || boxes > NESTING_LIMIT.boxes) {
      return { kind: 'tooMany', path: wayTo(below) };
    }
  }
  return undefined;
}

/**
 * Tells of names whether a box contains that other box, or names it in a Binding, at any depth. However many names are
 * asked for, the boxes are gone through once.
 */
export function containedIn(box: Nesting, find: FindNested): (name: string) => boolean {
  const looked = { left: LOOKED_AT_LIMIT };
  const counted: FindNested = (variable) => {
    looked.left -= 1;
    return looked.left < 0 ? undefined : find(variable);
  };
  const walk = boxesBelow(box, counted, ['Box', 'Binding']);
  const below = new Set<string>();
  return (name) => {
    while (!below.has(name) && looked.left > 0) {
      const next = walk.next();
      if (next.done === true) return false;
      below.add(next.value.name);
    }
    return looked.left <= 0 || below.has(name);
  };
}

/** All boxes that variables of these types lead to, nearest first, each once; the box itself at the end of each way round. */
function* boxesBelow(
  box: Nesting,
  find: FindNested,
  types: readonly string[],
): Generator<Below, void, undefined> {
  const start = box.metadata.name;
  const seen = new Set<string>();
  const open: { box: Nesting; at: Below }[] = [{ box, at: { name: start, level: 0, above: undefined } }];
  // What is found while the list is walked is walked as well.
  for (const { box: current, at } of open) {
    for (const variable of current.spec.variables) {
      if (!types.includes(variable.type)) continue;
      const { boxRef } = variable;
      // Many may name the same one.
      if (boxRef !== undefined && seen.has(boxRef.name)) continue;
      const nested = find(variable);
      const name = nested?.metadata.name ?? boxRef?.name;
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
