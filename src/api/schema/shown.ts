import type { TSchema } from 'typebox';

interface Node {
  shown?: true;
  items?: TSchema;
  properties?: Readonly<Record<string, TSchema>>;
}

/**
 * Whether a field only shows, itself or as a part of what only shows (`shown` in build.ts).
 *
 * @param path - below the schema, items of lists as `[2]` or `[]`, such as `machines[2].name`; what the schema
 * does not know may decide.
 */
export function isShown(schema: TSchema, path: string): boolean {
  let node: Node | undefined = schema;
  for (const step of path.replaceAll(/\.?\[\d*\]/g, '.[]').split('.')) {
    node = step === '[]' ? node.items : node.properties?.[step];
    if (node === undefined) return false;
    if (node.shown === true) return true;
  }
  return false;
}
