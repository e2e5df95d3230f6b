import { blobByUrl } from '../../blobs/url.ts';
import type { Node } from '../../boxes/tree.ts';
import type { InstanceDoc, Variable } from '../../model.ts';
import type { Service } from '../../service.ts';
import type { ScriptStep } from './plan.ts';
import { instanceTree } from '../stack.ts';

/** What a script sees: variables by name, and files that have to be put down before it runs. */
export interface ScriptEnvironment {
  variables: Readonly<Record<string, string>>;
  files: readonly { variable: string; name: string; content: Uint8Array }[];
}

const identifier = (name: string): string => name.replaceAll(/\W/g, '_').replace(/^(?=\d)/, '_');

/**
 * The variables of the step's box: its own values, overridden by those of the boxes around it, overridden by
 * the instance's. Names become identifiers. File variables hold the path of a local copy; bindings the id of
 * the bound instance, and `<NAME>_ADDRESS` the address of its first machine.
 */
export function environmentOf(service: Service, instance: InstanceDoc, step: ScriptStep): ScriptEnvironment {
  const variables: Record<string, string> = {};
  const files: { variable: string; name: string; content: Uint8Array }[] = [];
  const tree = instanceTree(service, instance);
  const bound = new Set(instance.bindings.map((binding) => binding.instance));
  for (const variable of effectiveVariables(tree, instance, step.box)) {
    const name = identifier(variable.name);
    const value = variable.value;
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
    if (variable.type === 'File') {
      const blob = blobByUrl(service, text);
      const content = blob === undefined ? undefined : service.store.content.get(blob.id);
      if (blob !== undefined && content !== undefined) {
        files.push({ variable: name, name: blob.name, content });
        continue;
      }
    }
    variables[name] = text;
    // Bindings were judged when the operation was accepted.
    if (variable.type === 'Binding' && bound.has(text)) {
      const address = service.store.instances.get(text)?.service.machines[0]?.address['private'];
      if (typeof address === 'string') variables[`${name}_ADDRESS`] = address;
    }
  }
  return {
    variables: {
      ...variables,
      INSTANCE_ID: instance.id,
      INSTANCE_NAME: instance.name,
      SERVICE_ID: instance.service.id,
      MACHINE_NAME: step.machine,
      BOX_PATH: step.box,
      EVENT: step.event,
    },
    files,
  };
}

/** The variables of the box at a path with the values that count (service-behaviour.md 2.5). */
export function effectiveVariables(
  tree: Node | undefined,
  instance: Pick<InstanceDoc, 'variables'>,
  path: string,
): Variable[] {
  const chain = tree === undefined ? [] : nodesTo(tree, path);
  const own = chain.at(-1);
  if (own === undefined || own.path !== path) return [];
  // From the nearest box outwards, then the instance: the last entry has the last word.
  const layers = chain
    .slice(0, -1)
    .toReversed()
    .map((node) => inScope(node.box.variables, node.path === '' ? path : path.slice(node.path.length + 1)));
  const overrides = inScope(instance.variables, path);
  return own.box.variables
    .filter((variable) => (variable.scope ?? '') === '')
    .map((variable) => {
      let value = variable.value;
      for (const layer of layers) value = layer.get(variable.name)?.value ?? value;
      const override = overrides.get(variable.name);
      const { tags = variable['tags'] } = (override ?? {}) as { tags?: unknown };
      const effective = { ...variable, value: override?.value ?? value };
      return tags === undefined ? effective : { ...effective, tags };
    });
}

/** Entries of a scope by their name. */
function inScope(variables: readonly Variable[], scope: string): Map<string, Variable> {
  const fitting = variables.filter((variable) => (variable.scope ?? '') === scope);
  return new Map(fitting.map((variable) => [variable.name, variable]));
}

function nodesTo(tree: Node, path: string): Node[] {
  if (tree.path === path) return [tree];
  for (const child of tree.children) {
    if (path === child.path || path.startsWith(`${child.path}.`)) return [tree, ...nodesTo(child, path)];
  }
  return [tree];
}
