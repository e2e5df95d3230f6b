import { canSee, canSeeBox } from '../../access.ts';
import { visibleBlob } from '../../blobs/visibility.ts';
import type { Node } from '../../boxes/tree.ts';
import { effectiveVariables } from '../../instances/run/environment.ts';
import { instanceTree } from '../../instances/stack.ts';
import type { InstanceDoc, Variable } from '../../model.ts';
import type { Ask } from '../ask.ts';
import { html, type Html, type Part } from '../html.ts';
import { link, mono, nothing, pathOf, table, tag, valueText } from '../pieces.ts';

/** A table of a box's variables, with links to what their values name. */
export function variableTable(ask: Ask, variables: readonly Variable[]): Html {
  if (variables.length === 0) return nothing('No variables.');
  return table(
    ['Name', 'Value', 'Type|mid', 'Visibility|wide'],
    variables.map((variable) => [
      nameOf(variable.scope ?? '', variable),
      valueOf(ask, variable),
      variable.type,
      variable.visibility ?? '',
    ]),
    'Variables',
  );
}

/** A variable as an instance has it. */
interface Effective {
  /** Dotted path of the box within the stack; "" for the main box. */
  path: string;
  variable: Variable;
  /** Set for this instance, or as its box has it. */
  own: boolean;
}

/** Every variable of the boxes that an instance is made of, with the values that were set for it. */
function effective({ service }: Ask, instance: InstanceDoc): Effective[] {
  const all: Effective[] = [];
  const rest = new Set(instance.variables);
  const tree = instanceTree(service, instance);
  const visit = ({ path, children }: Node): void => {
    for (const variable of effectiveVariables(tree, instance, path)) {
      const own = instance.variables.find(
        (other) => other.name === variable.name && (other.scope ?? '') === path,
      );
      if (own !== undefined) rest.delete(own);
      all.push({ path, variable, own: own !== undefined });
    }
    for (const child of children) visit(child);
  };
  if (tree !== undefined) visit(tree);
  // What no box of the stack knows was set all the same.
  for (const variable of rest) all.push({ path: variable.scope ?? '', variable, own: true });
  return all;
}

/** The variables of an instance, and where each value comes from. */
export function instanceVariables(ask: Ask, instance: InstanceDoc): Html {
  const rows = [
    ...effective(ask, instance).map(({ path, variable, own }) => [
      nameOf(path, variable),
      valueOf(ask, variable),
      variable.type,
      own ? 'this instance' : html`<span class="muted">its box</span>`,
    ]),
    ...instance.policyVariables.map((variable) => [
      nameOf('policy box', variable),
      valueOf(ask, variable),
      variable.type,
      'this instance',
    ]),
  ];
  if (rows.length === 0) return nothing('No variables.');
  return table(['Name', 'Value', 'Type|mid', 'Set by|mid'], rows, 'Variables');
}

const nameOf = (path: string, { name, required }: Variable): Part =>
  html`${path !== '' && html`<span class="muted mono">${path}.</span>`}${mono(name)}
  ${required === true && tag('required')}`;

function valueOf({ service, caller }: Ask, variable: Variable): Part {
  const text = valueText(variable);
  if (text === '') return html`<span class="muted">empty</span>`;
  if (variable.type === 'Box' || variable.type === 'Binding') {
    const box = service.store.boxes.get(text);
    if (box !== undefined && canSeeBox(service, caller, box)) return link(pathOf('boxes', box.id), box.name);
    const instance = service.store.instances.get(text);
    if (instance !== undefined && canSee(caller, instance)) {
      return link(pathOf('instances', instance.id), instance.name);
    }
  }
  if (variable.type === 'File') {
    const blob = visibleBlob(service, caller, text);
    if (blob !== undefined) return link(pathOf('blobs', blob.id), blob.name);
  }
  return html`<span class="mono value">${text.slice(0, 2_000)}</span>`;
}
