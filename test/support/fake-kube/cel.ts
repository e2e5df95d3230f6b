import { Environment } from '@marcbachmann/cel-js';
import { isRecord } from './objects.ts';
import type { CelRule, Schema } from './schema.ts';

type Program = ReturnType<Environment['parse']>;

const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });

/** Reading a rule costs more than running it, and there are few. */
const programs = new Map<string, Program>();

function programOf(rule: string): Program {
  let program = programs.get(rule);
  if (program === undefined) {
    program = environment.parse(rule);
    programs.set(rule, program);
  }
  return program;
}

/** The rules of a schema node that a value breaks. A rule that names `oldSelf` runs only on updates. */
export function celFailures(schema: Schema, value: unknown, old: unknown): CelRule[] {
  return (schema['x-kubernetes-validations'] ?? []).filter((one) => {
    const transition = /\boldSelf\b/.test(one.rule);
    if (transition && old === undefined) return false;
    const context = { self: toCel(schema, value), oldSelf: transition ? toCel(schema, old) : undefined };
    return programOf(one.rule)(context) !== true;
  });
}

/** CEL tells int from double: what the schema calls an integer becomes one. */
function toCel(schema: Schema, value: unknown): unknown {
  if (typeof value === 'number') return schema.type === 'integer' ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => toCel(schema.items ?? {}, item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const additional = isRecord(schema.additionalProperties) ? (schema.additionalProperties as Schema) : {};
      return [key, toCel(schema.properties?.[key] ?? additional, member)];
    }),
  );
}
