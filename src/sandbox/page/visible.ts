import { canSee, canSeeBox, canSeeProvider } from '../access.ts';
import { boxTree, type Node } from '../boxes/tree.ts';
import { Refusal } from '../http.ts';
import type { BoxDoc, InstanceDoc, ProviderDoc, WorkspaceDoc } from '../model.ts';
import type { Ask } from './ask.ts';

type Who = Pick<Ask, 'service' | 'caller'>;

/** The instances of every workspace of the caller, and those that are shared with one of them. */
export function instancesOf({ service, caller }: Who): InstanceDoc[] {
  const { instances } = service.store;
  const found = [...caller.workspaces].flatMap((id) => [
    ...instances.by('owner', id),
    ...instances.by('member', id),
  ]);
  return [...new Set(found)].filter((instance) => canSee(caller, instance));
}

/** Every box that the caller sees, the versions among them. */
export function boxesOf({ service, caller }: Who): BoxDoc[] {
  return service.store.boxes.all().filter((box) => canSeeBox(service, caller, box));
}

export function providersOf({ service, caller }: Who): ProviderDoc[] {
  return service.store.providers.all().filter((provider) => canSeeProvider(service, caller, provider));
}

export function workspacesOf({ service, caller }: Who): WorkspaceDoc[] {
  return [...caller.workspaces]
    .map((id) => service.store.workspaces.get(id))
    .filter((workspace) => workspace !== undefined);
}

/** The boxes that an instance was made of, its policy box among them: ids of boxes, never of versions. */
export function boxesIn({ service }: Who, instance: InstanceDoc): Set<string> {
  const { revisions } = service.store;
  const boxes = [...instance.stack, instance.policy].map((id) => revisions.get(id)?.box);
  return new Set([instance.box, ...boxes.map((box) => box?.version?.box ?? box?.id ?? '')]);
}

/**
 * A box with the boxes inside that the caller sees: what is not shared with it is not named either. Says why where
 * there is more than can be deployed; the box alone is in the tree then.
 */
export function visibleTree({ service, caller }: Who, box: BoxDoc): { tree: Node; refused: string } {
  const find = (id: string): BoxDoc | undefined => {
    const found = service.store.boxes.get(id);
    return found !== undefined && canSeeBox(service, caller, found) ? found : undefined;
  };
  try {
    return { tree: boxTree(service, box, [], find), refused: '' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { tree: { path: '', box, children: [] }, refused: error.message };
  }
}

/** How many of these instances each box is a part of. */
export function usesOf(who: Who, instances: readonly InstanceDoc[]): Map<string, number> {
  const uses = new Map<string, number>();
  for (const instance of instances) {
    for (const id of boxesIn(who, instance)) uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  return uses;
}
