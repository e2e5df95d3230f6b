/** A value of the chart, or a group of them: values.yaml, its schema and its reference are made from these. */
export type Field = Leaf | Group;

/** One value. `schema` is JSON Schema draft-07, without description and default. */
export interface Leaf {
  kind: 'leaf';
  description: string;
  default: unknown;
  schema: Readonly<Record<string, unknown>>;
}

/** Values that stand together; others than these are refused. */
export interface Group {
  kind: 'group';
  description: string;
  fields: Readonly<Record<string, Field>>;
}

export function group(description: string, fields: Readonly<Record<string, Field>>): Group {
  return { kind: 'group', description, fields };
}

export function text(value: string, description: string, schema: object = {}): Leaf {
  return leaf(value, description, { type: 'string', ...schema });
}

export function oneOf(value: string, choices: readonly string[], description: string): Leaf {
  return leaf(value, description, { type: 'string', enum: choices });
}

export function flag(value: boolean, description: string): Leaf {
  return leaf(value, description, { type: 'boolean' });
}

export function whole(value: number, description: string, minimum: number, maximum: number): Leaf {
  return leaf(value, description, { type: 'integer', minimum, maximum });
}

export function texts(value: readonly string[], description: string, items: object = {}): Leaf {
  return leaf(value, description, { type: 'array', items: { type: 'string', ...items }, uniqueItems: true });
}

/** Names and texts, such as labels. */
export function map(value: Readonly<Record<string, string>>, description: string): Leaf {
  return leaf(value, description, { type: 'object', additionalProperties: { type: 'string' } });
}

/** A piece of the Kubernetes API, which the API server checks: not repeated here. */
export function piece(value: object, description: string): Leaf {
  return Array.isArray(value)
    ? leaf(value, description, { type: 'array', items: { type: 'object' } })
    : leaf(value, description, { type: 'object' });
}

/** A duration as Go and the operator write it: `90s`, `8h`. */
export function duration(value: string, description: string): Leaf {
  return text(value, description, { pattern: '^([0-9]+(ms|s|m|h))+$' });
}

function leaf(value: unknown, description: string, schema: Readonly<Record<string, unknown>>): Leaf {
  return { kind: 'leaf', description, default: value, schema };
}
