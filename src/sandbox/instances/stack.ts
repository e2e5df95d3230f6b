import { createHash } from 'node:crypto';
import { canSeeBox } from '../access.ts';
import { boxTree, flatten, type Node } from '../boxes/tree.ts';
import { badRequest } from '../http.ts';
import { checkScripts } from './run/plan.ts';
import type { BoxDoc, InstanceDoc, Variable } from '../model.ts';
import type { Caller, Service } from '../service.ts';

/** Keeps a box as it is now; equal content is kept once, however many instances use it. */
export function freeze(service: Service, box: BoxDoc): string {
  const id = createHash('sha256').update(JSON.stringify(box)).digest('hex');
  if (service.store.revisions.get(id) === undefined) service.store.revisions.put({ id, box });
  return id;
}

export function revision(service: Service, id: string): BoxDoc | undefined {
  return service.store.revisions.get(id)?.box;
}

/** The frozen box as an instance shows it: with the date when the box was deleted since. */
export function shownBox(service: Service, id: string): BoxDoc | undefined {
  const box = revision(service, id);
  if (box === undefined || service.store.boxes.get(box.id) !== undefined) return box;
  const gone = service.store.settings.get(`gone:${box.id}`);
  return gone === undefined ? box : { ...box, deleted: String(gone.value) };
}

/** The frozen boxes of an instance by their id. */
function frozen(service: Service, instance: InstanceDoc | undefined): Map<string, BoxDoc> {
  const boxes = (instance?.stack ?? []).map((key) => revision(service, key));
  return new Map(boxes.filter((box) => box !== undefined).map((box) => [box.id, box]));
}

/**
 * The tree that `main` and the overrides give now, as the caller may see it. What an instance has already stays
 * as it was deployed where the caller does not see the box itself.
 * @throws Refusal 400 when a nested box is not visible to the caller, or the tree is too large
 */
export function treeFor(
  service: Service,
  caller: Caller,
  main: BoxDoc,
  variables: readonly { name: string; value?: unknown; scope?: string }[],
  instance?: InstanceDoc,
): Node {
  const kept = frozen(service, instance);
  return boxTree(service, main, variables, (id) => {
    const box = service.store.boxes.get(id);
    if (box !== undefined && canSeeBox(service, caller, box)) return box;
    const before = kept.get(id);
    if (box !== undefined && before === undefined) {
      throw badRequest(`box: there is no box ${id} that you can see, and the stack needs it`);
    }
    return before;
  });
}

/**
 * Keeps the boxes of a tree as they are now, the main box first.
 * @throws Refusal 400 when so many machines could not run their events
 */
export function freezeTree(service: Service, tree: Node, machines: number): string[] {
  checkScripts(tree, machines);
  return flatten(tree).map((box) => freeze(service, box));
}

/** The tree of the instance's own frozen boxes. @throws Refusal 400 when it is too large */
export function instanceTree(
  service: Service,
  instance: Pick<InstanceDoc, 'stack'> & { variables: readonly Variable[] },
): Node | undefined {
  const boxes = new Map<string, BoxDoc>();
  for (const key of instance.stack) {
    const box = revision(service, key);
    if (box !== undefined && !boxes.has(box.id)) boxes.set(box.id, box);
  }
  const [main] = boxes.values();
  return main === undefined ? undefined : boxTree(service, main, instance.variables, (id) => boxes.get(id));
}
