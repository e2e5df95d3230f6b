import { canSee } from '../access.ts';
import type { Node } from '../boxes/tree.ts';
import { terminated } from '../edge/readings.ts';
import { badRequest } from '../http.ts';
import type { InstanceDoc, Variable } from '../model.ts';
import type { Caller, Service } from '../service.ts';
import { effectiveVariables } from './run/environment.ts';
import { instanceTree } from './stack.ts';

/** One resolved binding (interface document section 2.6). */
export interface Binding {
  name: string;
  /** Id of the bound instance. */
  instance: string;
}

/**
 * What the Binding variables of an instance lead to: an instance named by id, or every living instance of the
 * same workspace that has all the tags (service-behaviour.md 2.5).
 */
export function resolveBindings(service: Service, instance: InstanceDoc): Binding[] {
  const bindings: Binding[] = [];
  const tree = instanceTree(service, instance);
  if (tree === undefined) return bindings;
  const tagged = tagSearch(service, instance);
  const visit = (node: Node): void => {
    for (const variable of effectiveVariables(tree, instance, node.path)) {
      if (variable.type !== 'Binding') continue;
      const name = node.path === '' ? variable.name : `${node.path}.${variable.name}`;
      for (const target of targets(service, variable, tagged)) bindings.push({ name, instance: target });
    }
    for (const child of node.children) visit(child);
  };
  visit(tree);
  return bindings;
}

/**
 * Judges what an instance is bound to, those bindings excepted that it had before.
 * @throws Refusal 400 when the caller cannot see an instance that a binding leads to
 */
export function checkBindings(
  caller: Caller,
  service: Service,
  instance: InstanceDoc,
  before: readonly Binding[] = [],
): void {
  const known = new Set(before.map(({ name, instance: id }) => `${name} ${id}`));
  for (const { name, instance: id } of resolveBindings(service, instance)) {
    const bound = service.store.instances.get(id);
    if (known.has(`${name} ${id}`) || (bound !== undefined && canSee(caller, bound))) continue;
    throw badRequest(`variables.${name}: there is no instance ${id} that you can see`);
  }
}

type TagSearch = (tags: readonly string[]) => string[];

function targets(service: Service, variable: Variable, tagged: TagSearch): string[] {
  const { value } = variable;
  const tags = variable['tags'];
  if (typeof value === 'string' && service.store.instances.get(value) !== undefined) return [value];
  return Array.isArray(tags) && tags.length > 0 ? tagged(tags.map(String)) : [];
}

/** Finds instances of the workspace by tags; the instances are gone through once, however many searches follow. */
function tagSearch(service: Service, instance: InstanceDoc): TagSearch {
  let byTag: Map<string, Set<string>> | undefined;
  return (tags) => {
    byTag ??= indexTags(service, instance);
    const [first = new Set<string>(), ...others] = tags.map((tag) => byTag?.get(tag) ?? new Set<string>());
    return [...first].filter((id) => others.every((ids) => ids.has(id)));
  };
}

function indexTags(service: Service, instance: InstanceDoc): Map<string, Set<string>> {
  const byTag = new Map<string, Set<string>>();
  for (const other of service.store.instances.by('owner', instance.owner)) {
    if (other.id === instance.id || terminated(other.state, other.operation.event)) continue;
    for (const tag of other.tags) {
      const ids = byTag.get(tag);
      if (ids === undefined) byTag.set(tag, new Set([other.id]));
      else ids.add(other.id);
    }
  }
  return byTag;
}
