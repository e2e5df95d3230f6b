import { badRequest } from '../http.ts';
import type { Override } from '../model.ts';
import type { Service } from '../service.ts';

/** What stands for a value that is not shown. */
export const MASK = '********';

/** Tells a variable from the others of a list. */
export const variableKey = (variable: Override): string => `${variable.scope ?? ''} ${variable.name}`;

/**
 * The variables of a request with the stored value where the mask came back: it means "as it was".
 * @throws Refusal 400 when nothing is stored that the mask could stand for
 */
export function unmasked<T extends Override>(
  service: Service,
  given: readonly T[],
  stored: readonly Override[],
): T[] {
  if (!given.some(service.rules.isMasked)) return [...given];
  const known = new Map(stored.map((variable) => [variableKey(variable), variable]));
  return given.map((variable) => {
    if (!service.rules.isMasked(variable)) return variable;
    const before = known.get(variableKey(variable));
    if (before !== undefined) return { ...variable, value: before.value };
    throw badRequest(
      `variables.${variable.name}: ${MASK} stands for a value that is not shown; send the value`,
    );
  });
}
