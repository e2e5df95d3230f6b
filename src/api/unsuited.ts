import { Guesses, misfitOf, unfilled, type Declared, type Given } from './declared-variables.ts';

/** What a box declares, as far as values for it are judged. */
export interface DeclaredBox {
  name: string;
  variables: readonly (Declared & {
    boxRef?: { name: string } | undefined;
    boxId?: string | undefined;
  })[];
  requirements: readonly string[];
}

/** What a policy box declares, as far as values for it are judged. */
export interface DeclaredPolicyBox {
  name: string;
  variables: readonly Declared[];
  claims: readonly string[];
}

/** A value for a variable of a nested box. */
export interface GivenBelow extends Given {
  scope: string;
}

/** What an Instance gives to its box and its policy box. */
export interface GivenAll {
  variables: readonly Given[];
  overrides: readonly GivenBelow[];
  policyVariables: readonly Given[];
}

/** What does not fit: who declares it, the field that is wrong, and the sentence. */
export interface Unsuited {
  reason: 'UnknownVariable' | 'Unsuitable';
  /** The box or policy box that lacks it. */
  of: { kind: 'Box' | 'PolicyBox'; name: string };
  field: string;
  message: string;
}

/** Finds the box that a variable of type Box names; undefined where what that declares is not known. */
export type FindBox = (variable: DeclaredBox['variables'][number]) => DeclaredBox | undefined;

/**
 * What of an Instance fits neither its box nor its policy box. A service ignores such values without a word, and
 * deploys the defaults. A box that is not known here is passed over.
 */
export function unsuitedInstance(
  given: GivenAll,
  { box, policyBox }: { box: DeclaredBox | undefined; policyBox: DeclaredPolicyBox | undefined },
  find: FindBox,
): Unsuited[] {
  const findings: Unsuited[] = [];
  const guesses = new Guesses();
  if (box !== undefined) {
    findings.push(
      ...misfits(given.variables, box.variables, { kind: 'Box', name: box.name }, 'spec.variables', guesses),
      ...unfilled(box.variables, given.variables).map((name): Unsuited => ({
        reason: 'Unsuitable',
        of: { kind: 'Box', name: box.name },
        field: 'spec.variables',
        message: `box ${box.name} requires a value for ${name}: add it to spec.variables`,
      })),
      ...unsuitedOverrides(box, given.overrides, find, guesses),
    );
  }
  if (policyBox !== undefined) {
    const of = { kind: 'PolicyBox', name: policyBox.name } as const;
    findings.push(
      ...misfits(given.policyVariables, policyBox.variables, of, 'spec.policyVariables', guesses),
    );
  }
  if (box !== undefined && policyBox !== undefined) findings.push(...unclaimed(box, policyBox, guesses));
  return findings;
}

/** Overrides speak of variables of nested boxes, by the way to them. */
export function unsuitedOverrides(
  root: DeclaredBox,
  overrides: readonly GivenBelow[],
  find: FindBox,
  guesses = new Guesses(),
): Unsuited[] {
  return overrides.flatMap((override, index) => {
    const path = `spec.overrides[${index}]`;
    let box = root;
    for (const step of override.scope.split('.')) {
      const nested = box.variables.filter(({ type }) => type === 'Box');
      const found = nested.find(({ name }) => name === step);
      if (found === undefined) return [noNested(box, step, nested, `${path}.scope`, guesses)];
      const next = find(found);
      if (next === undefined) return [];
      box = next;
    }
    const [misfit] = misfits([override], box.variables, { kind: 'Box', name: box.name }, path, guesses);
    return misfit === undefined ? [] : [{ ...misfit, field: misfit.field.replace('[0]', '') }];
  });
}

function noNested(
  box: DeclaredBox,
  step: string,
  nested: DeclaredBox['variables'],
  field: string,
  guesses: Guesses,
): Unsuited {
  const names = nested.map(({ name }) => name);
  const has = names.length === 0 ? 'It nests none' : `It nests ${names.join(', ')}`;
  const message = `box ${box.name} has no nested box ${step}${guesses.of(step, names) || '.'} ${has}`;
  return { reason: 'UnknownVariable', of: { kind: 'Box', name: box.name }, field, message };
}

function misfits(
  given: readonly Given[],
  declared: readonly Declared[],
  of: Unsuited['of'],
  path: string,
  guesses: Guesses,
): Unsuited[] {
  const noun = of.kind === 'Box' ? 'box' : 'policy box';
  return given.flatMap((one, index) => {
    const misfit = misfitOf(one, declared, `${noun} ${of.name}`, guesses);
    if (misfit === undefined) return [];
    const reason = misfit.field === 'name' ? 'UnknownVariable' : 'Unsuitable';
    return [{ reason, of, field: `${path}[${index}].${misfit.field}`, message: misfit.message }];
  });
}

function unclaimed(box: DeclaredBox, { name, claims }: DeclaredPolicyBox, guesses: Guesses): Unsuited[] {
  const claimed = new Set(claims);
  return box.requirements
    .filter((requirement) => !claimed.has(requirement))
    .map((requirement) => ({
      reason: 'Unsuitable',
      of: { kind: 'PolicyBox', name },
      field: 'spec.policyBoxRef',
      message: `box ${box.name} requires ${requirement}, and policy box ${name} does not claim it${guesses.of(requirement, claims)}`,
    }));
}
