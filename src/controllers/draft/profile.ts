/** A profile as it travels: its schema is absolute there. */
export function wireProfile(
  { schema, properties }: { schema: string; properties: Record<string, unknown> },
  schemaBase: string,
): Record<string, unknown> {
  return { ...properties, schema: schema.includes('://') ? schema : `${schemaBase}/${schema}` };
}
