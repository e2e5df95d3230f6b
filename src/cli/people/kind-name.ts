import { KINDS, type AnyResource } from '../../api/kinds.ts';
import type { KindDefinition } from '../../api/schema/kind.ts';
import { UsageError } from '../exit-codes.ts';

/** A resource as a person names it, or all of a kind. */
export interface Named {
  definition: KindDefinition<AnyResource>;
  name: string | undefined;
}

/** How the argument is described in help texts. */
export const KIND_NAME = 'a resource, such as instance/web or box/web';

/** Reads `kind/name`, with the kind in any form that kubectl takes; `kind` alone is all of it. @throws UsageError */
export function readKindName(word: string): Named {
  const [kind = '', name, ...rest] = word.split('/');
  const definition = kindNamed(kind);
  if (definition === undefined) {
    const words = KINDS.map(({ singular }) => singular).join(', ');
    throw new UsageError(
      `${JSON.stringify(word)} names no kind of Boxwright: write <kind>/<name> with ${words}`,
    );
  }
  if (name === '' || rest.length > 0) {
    throw new UsageError(`${JSON.stringify(word)}: write ${definition.singular}/<name>`);
  }
  return { definition, name };
}

/** As {@link readKindName}, for one resource. @throws UsageError */
export function readOne(word: string): Named & { name: string } {
  const { definition, name } = readKindName(word);
  if (name === undefined) throw new UsageError(`${word} is a kind: write ${definition.singular}/<name>`);
  return { definition, name };
}

/** A kind by any of its names, as kubectl takes them: case does not matter, the group may follow. */
export function kindNamed(word: string): KindDefinition<AnyResource> | undefined {
  const plain = word.toLowerCase();
  return KINDS.find(({ singular, plural, shortNames, group, version }) =>
    [singular, plural, ...shortNames].some((each) =>
      [each, `${each}.${group}`, `${each}.${version}.${group}`].includes(plain),
    ),
  );
}
