import type { Node } from '../boxes/tree.ts';
import type { InstanceDoc, Variable } from '../model.ts';
import type { Service } from '../service.ts';
import { effectiveVariables } from './run/environment.ts';
import { instanceTree } from './stack.ts';
import { terminated } from '../edge/readings.ts';

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
  const visit = (node: Node): void => {
    for (const variable of effectiveVariables(service, instance, node.path)) {
      if (variable.type !== 'Binding') continue;
      const override = instance.variables.find(
        (other) => other.name === variable.name && (other.scope ?? '') === node.path,
      );
      const name = node.path === '' ? variable.name : `${node.path}.${variable.name}`;
      for (const target of targets(service, instance, { ...variable, ...override })) {
        bindings.push({ name, instance: target });
      }
    }
    for (const child of node.children) visit(child);
  };
  const tree = instanceTree(service, instance);
  if (tree !== undefined) visit(tree);
  return bindings;
}

function targets(service: Service, instance: InstanceDoc, variable: Variable): string[] {
  const { value } = variable;
  const tags = variable['tags'];
  if (typeof value === 'string' && service.store.instances.get(value) !== undefined) return [value];
  if (!Array.isArray(tags) || tags.length === 0) return [];
  return service.store.instances
    .by('owner', instance.owner)
    .filter(
      (other) =>
        other.id !== instance.id &&
        !terminated(other.state, other.operation.event) &&
        tags.every((tag) => other.tags.includes(String(tag))),
    )
    .map((other) => other.id);
}
