/** One step of a path: a field, or the first item of a list whose field has that value. */
type Step = { field: string } | { where: string; is: string };

const STEP = /\.([A-Za-z0-9]+)|\[\?\(@\.([A-Za-z0-9]+)=="([^"]*)"\)\]/gy;

/** The steps of a JSONPath as printer columns have it. @throws Error for another form */
export function stepsOf(jsonPath: string): Step[] {
  const steps: Step[] = [];
  let end = 0;
  for (const match of jsonPath.matchAll(STEP)) {
    const [whole, field, where, is] = match;
    end += whole.length;
    if (field !== undefined) steps.push({ field });
    else if (where !== undefined && is !== undefined) steps.push({ where, is });
  }
  if (end !== jsonPath.length || steps.length === 0) throw new Error(`not a path of a column: ${jsonPath}`);
  return steps;
}

/** What a printer column shows of a resource; undefined where there is nothing. */
export function columnValue(jsonPath: string, resource: unknown): unknown {
  let value = resource;
  for (const step of stepsOf(jsonPath)) {
    if (typeof value !== 'object' || value === null) return undefined;
    if ('field' in step) value = (value as Record<string, unknown>)[step.field];
    else if (!Array.isArray(value)) return undefined;
    else value = value.find((item) => (item as Record<string, unknown> | null)?.[step.where] === step.is);
  }
  return value ?? undefined;
}
