/** A profile as a manifest says it: its schema relative to that of the connection. */
export function relativeProfile(
  profile: Readonly<Record<string, unknown>> | undefined,
  schemaBase: string,
): { schema: unknown; properties: Record<string, unknown> } | undefined {
  if (profile === undefined) return undefined;
  const { schema, ...properties } = profile;
  const isBelow = typeof schema === 'string' && schema.startsWith(`${schemaBase}/`);
  return { schema: isBelow ? schema.slice(schemaBase.length + 1) : schema, properties };
}
