import { KINDS, type AnyResource } from '../../../api/kinds.ts';
import type { KindDefinition } from '../../../api/schema/kind.ts';
import type { StructuralSchema } from '../../../api/schema/structural.ts';
import type { Ask } from './asks.ts';

/** The kinds that take a request, by their definitions. */
export function takersOf({ field }: Ask): readonly KindDefinition<AnyResource>[] {
  return KINDS.filter((definition) => hasField(definition.structural(), field.split('.')));
}

function hasField(shape: StructuralSchema | undefined, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return shape !== undefined;
  return hasField(shape?.properties?.[step], rest);
}
