import { unmasked } from '../boxes/masks.ts';
import { nodesByPath, type Node } from '../boxes/tree.ts';
import { badRequest } from '../http.ts';
import type { BoxDoc, Override, Variable } from '../model.ts';
import type { Service } from '../service.ts';

/**
 * The overrides of a request without those whose value is the mask of a Password that is not overridden: they
 * mean the value that the box has.
 */
export function givenOverrides(
  service: Service,
  main: BoxDoc | undefined,
  variables: readonly Override[],
  before: readonly Variable[] = [],
): Override[] {
  const { isMasked } = service.rules;
  const stored = new Set(before.map(({ name, scope = '' }) => `${scope} ${name}`));
  const ofBox = (variable: Override): boolean =>
    (variable.scope ?? '') !== '' ||
    main?.variables.some((own) => own.name === variable.name && own.type === 'Password') === true;
  const meant = variables.filter(
    (variable) =>
      !isMasked(variable) || stored.has(`${variable.scope ?? ''} ${variable.name}`) || !ofBox(variable),
  );
  return unmasked(service, meant, before);
}

/** Overrides with the type of the box's own variable: what an override says of its type counts only without one. */
export function typedOverrides(tree: Node, variables: readonly Override[]): Variable[] {
  const owned = new Map<string, Variable>();
  for (const { path, box } of nodesByPath(tree).values()) {
    for (const own of box.variables) {
      if ((own.scope ?? '') === '') owned.set(`${path} ${own.name}`, own);
    }
  }
  return variables.map((variable) => {
    const { scope = '', ...rest } = variable;
    const own = owned.get(`${scope} ${variable.name}`);
    return {
      ...(own === undefined ? {} : { required: own.required, visibility: own.visibility }),
      ...rest,
      type: own?.type ?? rest.type ?? 'Text',
      ...(scope === '' ? {} : { scope }),
    };
  });
}

const empty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** A binding may be given by tags instead of a value (service-behaviour.md 2.5). */
const isBlank = (variable: Override): boolean =>
  empty(variable.value) && !(Array.isArray(variable['tags']) && variable['tags'].length > 0);

/** @throws Refusal 400 that names a required variable without a value */
export function checkRequired(tree: Node, variables: readonly Variable[]): void {
  const given = filledKeys(variables);
  const ofBoxes = new Map<BoxDoc, ReadonlySet<string>>();
  const filledIn = (box: BoxDoc): ReadonlySet<string> => {
    const known = ofBoxes.get(box) ?? filledKeys(box.variables);
    ofBoxes.set(box, known);
    return known;
  };
  const visit = (node: Node, above: readonly { box: BoxDoc; rest: string }[]): void => {
    for (const { name, required, scope = '', value } of node.box.variables) {
      if (required !== true || scope !== '' || !empty(value) || given.has(`${node.path} ${name}`)) continue;
      if (above.some(({ box, rest }) => filledIn(box).has(`${rest} ${name}`))) continue;
      const where = node.path === '' ? name : `${node.path}.${name}`;
      throw badRequest(`box.variables: "${where}" is required and has no value`);
    }
    for (const child of node.children) {
      const name = child.path.slice(node.path === '' ? 0 : node.path.length + 1);
      const outer = above.map(({ box, rest }) => ({ box, rest: `${rest}.${name}` }));
      visit(child, [...outer, { box: node.box, rest: name }]);
    }
  };
  visit(tree, []);
}

function filledKeys(variables: readonly Override[]): Set<string> {
  const filled = variables.filter((variable) => !isBlank(variable));
  return new Set(filled.map(({ name, scope = '' }) => `${scope} ${name}`));
}
