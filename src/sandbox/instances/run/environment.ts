import { blobByUrl } from '../../blobs/routes.ts';
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
  for (const variable of effectiveVariables(service, instance, step.box)) {
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
    if (variable.type === 'Binding') {
      const bound = service.store.instances.get(text);
      const address = bound?.service.machines[0]?.address['private'];
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
export function effectiveVariables(service: Service, instance: InstanceDoc, path: string): Variable[] {
  const tree = instanceTree(service, instance);
  const chain = tree === undefined ? [] : nodesTo(tree, path);
  const own = chain.at(-1);
  if (own === undefined || own.path !== path) return [];
  return own.box.variables
    .filter((variable) => (variable.scope ?? '') === '')
    .map((variable) => {
      let value = variable.value;
      // From the nearest box outwards, so that the outermost has the last word.
      for (const node of chain.slice(0, -1).toReversed()) {
        const scope = node.path === '' ? path : path.slice(node.path.length + 1);
        const entry = node.box.variables.find(
          (other) => other.name === variable.name && other.scope === scope,
        );
        value = entry?.value ?? value;
      }
      const override = instance.variables.find(
        (other) => other.name === variable.name && (other.scope ?? '') === path,
      );
      return { ...variable, value: override?.value ?? value };
    });
}

function nodesTo(tree: Node, path: string): Node[] {
  if (tree.path === path) return [tree];
  for (const child of tree.children) {
    if (path === child.path || path.startsWith(`${child.path}.`)) return [tree, ...nodesTo(child, path)];
  }
  return [tree];
}
