import { createHash } from 'node:crypto';
import { boxTree, flatten, type Node } from '../boxes/tree.ts';
import type { BoxDoc, InstanceDoc, RevisionDoc, Variable } from '../model.ts';
import type { Service } from '../service.ts';

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

/** The frozen boxes of the stack that `main` and the overrides give, the main box first. */
export function freezeStack(service: Service, main: BoxDoc, variables: readonly Variable[]): string[] {
  return flatten(boxTree(service, main, variables)).map((box) => freeze(service, box));
}

/** The tree of the instance's own frozen boxes. */
export function instanceTree(service: Service, instance: InstanceDoc): Node | undefined {
  const boxes = instance.stack
    .map((id) => service.store.revisions.get(id))
    .filter((doc): doc is RevisionDoc => doc !== undefined)
    .map((doc) => doc.box);
  const [main] = boxes;
  if (main === undefined) return undefined;
  return boxTree(service, main, instance.variables, (id) => boxes.find((box) => box.id === id));
}
