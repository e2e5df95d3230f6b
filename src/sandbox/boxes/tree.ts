import { badRequest } from '../http.ts';
import type { BoxDoc, Override } from '../model.ts';
import type { Service } from '../service.ts';
import { variableKey } from './masks.ts';

export interface Node {
  /** Dotted path of Box-variable names from the main box; "" for the main box. */
  path: string;
  box: BoxDoc;
  children: Node[];
}

/** Boxes within each other. */
const MAX_DEPTH = 32;
/** Boxes of a tree, each counted as often as it is nested: two in each of ten levels would be a thousand. */
const MAX_BOXES = 500;
/** Variables of all of them. */
const MAX_VARIABLES = 20_000;

const tooDeep = (): Error => badRequest(`variables: boxes would be nested deeper than ${MAX_DEPTH} levels`);
const tooMany = (): Error =>
  badRequest(`variables: more than ${MAX_BOXES} boxes (or ${MAX_VARIABLES} variables) would be nested`);

type Find = (id: string) => BoxDoc | undefined;

/** Overrides by what they override. */
export type Overrides = ReadonlyMap<string, Override>;

export function overridesByKey(overrides: readonly Override[]): Overrides {
  return new Map(overrides.map((override) => [variableKey(override), override]));
}

/** The boxes that Box variables of `box` name; an override with the right scope wins over the box's own value. */
export function boxChildren(
  box: BoxDoc,
  find: Find,
  overrides: Overrides = new Map(),
  path = '',
): { name: string; box: BoxDoc }[] {
  const children: { name: string; box: BoxDoc }[] = [];
  for (const { type, name, scope = '', value } of box.variables) {
    if (type !== 'Box' || scope !== '') continue;
    const id = overrides.get(`${path} ${name}`)?.value ?? value;
    const child = typeof id === 'string' ? find(id) : undefined;
    if (child !== undefined) children.push({ name, box: child });
  }
  return children;
}

/**
 * The whole tree of nested boxes. A box that contains itself ends there instead of going on for ever.
 * @throws Refusal 400 when the tree is deeper or larger than anything that is deployed
 */
export function boxTree(
  service: Service,
  main: BoxDoc,
  given: readonly Override[],
  find: Find = (id) => service.store.boxes.get(id),
): Node {
  const overrides = overridesByKey(given);
  let boxes = 0;
  let variables = 0;
  const build = (box: BoxDoc, path: string, above: readonly string[]): Node => {
    boxes++;
    variables += box.variables.length;
    if (boxes > MAX_BOXES || variables > MAX_VARIABLES) throw tooMany();
    if (above.length > MAX_DEPTH) throw tooDeep();
    const inner = [...above, box.id];
    return {
      path,
      box,
      children: boxChildren(box, find, overrides, path)
        .filter((child) => !inner.includes(child.box.id))
        .map((child) => build(child.box, path === '' ? child.name : `${path}.${child.name}`, inner)),
    };
  };
  return build(main, '', []);
}

interface Size {
  depth: number;
  boxes: number;
}

/**
 * Judges what a box nests, each box once however often it is nested.
 * @throws Refusal 400 when the box would contain itself, or more than can be deployed
 */
export function checkNesting(service: Service, box: BoxDoc): void {
  const measured = new Map<string, Size>();
  const open: string[] = [];
  const find: Find = (id) => service.store.boxes.get(id);
  const measure = (current: BoxDoc): Size => {
    const known = measured.get(current.id);
    if (known !== undefined) return known;
    if (open.length > MAX_DEPTH) throw tooDeep();
    open.push(current.version?.box ?? current.id);
    const size: Size = { depth: 0, boxes: 1 };
    for (const { box: child } of boxChildren(current, find)) {
      if (open.includes(child.version?.box ?? child.id)) {
        throw badRequest(`variables: the box would contain itself (${child.name})`);
      }
      const inner = measure(child);
      size.depth = Math.max(size.depth, inner.depth + 1);
      size.boxes += inner.boxes;
    }
    open.pop();
    measured.set(current.id, size);
    return size;
  };
  const { depth, boxes } = measure(box);
  if (depth > MAX_DEPTH) throw tooDeep();
  if (boxes > MAX_BOXES) throw tooMany();
}

/** Every node of the tree by its path, the main box first. */
export function nodesByPath(node: Node): Map<string, Node> {
  const nodes = new Map<string, Node>();
  const visit = (current: Node): void => {
    nodes.set(current.path, current);
    for (const child of current.children) visit(child);
  };
  visit(node);
  return nodes;
}

/** Every box of the tree once, the main box first. */
export function flatten(node: Node): BoxDoc[] {
  const boxes = [...nodesByPath(node).values()].map((current): [string, BoxDoc] => [
    current.box.id,
    current.box,
  ]);
  return [...new Map(boxes).values()];
}
