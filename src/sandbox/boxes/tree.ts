import type { BoxDoc, Override } from '../model.ts';
import type { Service } from '../service.ts';

export interface Node {
  /** Dotted path of Box-variable names from the main box; "" for the main box. */
  path: string;
  box: BoxDoc;
  children: Node[];
}

const MAX_DEPTH = 16;

/** The boxes that Box variables of `box` name; an override with the right scope wins over the box's own value. */
export function boxChildren(
  service: Service,
  box: BoxDoc,
  overrides: readonly Override[],
  path: string,
  find: (id: string) => BoxDoc | undefined = (id) => service.store.boxes.get(id),
): { name: string; box: BoxDoc }[] {
  const children: { name: string; box: BoxDoc }[] = [];
  for (const variable of box.variables) {
    if (variable.type !== 'Box' || (variable.scope ?? '') !== '') continue;
    const override = overrides.find(
      (other) => other.name === variable.name && (other.scope ?? '') === path && other.value !== undefined,
    );
    const id = override?.value ?? variable.value;
    const child = typeof id === 'string' ? find(id) : undefined;
    if (child !== undefined) children.push({ name: variable.name, box: child });
  }
  return children;
}

/** The whole tree of nested boxes. A box that contains itself ends there instead of going on for ever. */
export function boxTree(
  service: Service,
  main: BoxDoc,
  overrides: readonly Override[],
  find?: (id: string) => BoxDoc | undefined,
): Node {
  const build = (box: BoxDoc, path: string, above: readonly string[]): Node => ({
    path,
    box,
    children:
      above.length >= MAX_DEPTH
        ? []
        : boxChildren(service, box, overrides, path, find)
            .filter((child) => !above.includes(child.box.id) && child.box.id !== box.id)
            .map((child) =>
              build(child.box, path === '' ? child.name : `${path}.${child.name}`, [...above, box.id]),
            ),
  });
  return build(main, '', []);
}

/** Every box of the tree once, the main box first. */
export function flatten(node: Node): BoxDoc[] {
  const boxes = new Map<string, BoxDoc>();
  const visit = (current: Node): void => {
    boxes.set(current.box.id, current.box);
    for (const child of current.children) visit(child);
  };
  visit(node);
  return [...boxes.values()];
}
