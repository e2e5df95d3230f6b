import { Environment } from '@marcbachmann/cel-js';
import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  option,
  property,
  record,
  type Arbitrary,
} from 'fast-check';
import type { TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../kinds.ts';
import { keptAsIs, unchanged, type Rule } from './rules.ts';
import { rulesOf } from './structural.ts';

/**
 * Every rule is written twice, as CEL and as a function. Here both see the same values, made up from the
 * schemas: a rule whose halves disagree would let the parser refuse what the API server takes, or the reverse.
 */

/** Texts on which rules turn. */
const TEXTS = [
  '',
  'a',
  ' a',
  'http',
  '80',
  '0',
  '65535',
  '65536',
  '123456',
  '-1.5',
  '1.',
  '8h',
  '30s',
  '999h',
  '99999h',
  '1h30m',
  '0s',
  'Host',
  'X-Token',
  'Authorization',
  'Service-Release',
  'X-Forwarded-Host',
  'X-Forwarded-Token',
  'Sec-WebSocket-Key',
  '__proto__',
  'constructor',
  'bw-abcdefgh-abcdefghijklmnop',
  'bw-web',
  'a-name-that-is-longer-than-thirty-characters',
];

interface Node {
  type: string;
  enum?: string[];
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

function values(schema: TSchema): Arbitrary<unknown> {
  const node = schema as Node;
  if (node.enum !== undefined) return constantFrom(...node.enum);
  if (node.type === 'boolean') return boolean();
  if (node.type === 'integer') return integer({ min: -1, max: 100 });
  if (node.type === 'array') return array(values(node.items ?? {}), { maxLength: 3 });
  if (node.type === 'string') return constantFrom(...TEXTS);
  const fields = Object.entries(node.properties ?? {});
  const made = fields.map(([name, field]) => {
    const value = values(field);
    return [name, '~optional' in field ? option(value, { nil: undefined }) : value] as const;
  });
  return record(Object.fromEntries(made)).map((fieldsOf) =>
    Object.fromEntries(Object.entries(fieldsOf).filter(([, value]) => value !== undefined)),
  );
}

function ruled(schema: TSchema, path: string): [string, TSchema, Rule][] {
  const node = schema as Node;
  return [
    ...rulesOf(schema)
      .filter(({ holds }) => holds !== undefined)
      .map((rule): [string, TSchema, Rule] => [`${path}: ${rule.message}`, schema, rule]),
    ...(node.items === undefined ? [] : ruled(node.items, `${path}[]`)),
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => ruled(field, `${path}.${name}`)),
  ];
}

const cel = new Environment({ unlistedVariablesAreDyn: true });

const rules = KINDS.flatMap((definition) =>
  // Rules of the root see metadata.name, which is no part of the definition; they are tried as samples.
  Object.entries((definition.schema as unknown as Node).properties ?? {}).flatMap(([name, part]) =>
    ruled(part, `${definition.kind}.${name}`),
  ),
);

describe('each rule as CEL and as a function', () => {
  test.each(rules)('%s', (_, schema, { rule, holds }) => {
    const run = cel.parse(rule);
    assert(
      property(values(schema), (self) => {
        const asFunction = holds?.(self as never);
        expect({ self, holds: run({ self }) }).toEqual({ self, holds: asFunction });
      }),
      { numRuns: 60 },
    );
  });
});

describe('what never changes', () => {
  const presence = cel.parse(keptAsIs('name', 'make another').rule);
  const value = cel.parse(unchanged('name', 'make another').rule);
  /** As the API server runs them: the rule on the field, where the field is on both sides. */
  const allowed = (self: { name?: string }, oldSelf: { name?: string }): boolean =>
    presence({ self, oldSelf }) === true &&
    (self.name === undefined ||
      oldSelf.name === undefined ||
      value({ self: self.name, oldSelf: oldSelf.name }) === true);

  test.each([
    ['kept', { name: 'a' }, { name: 'a' }, true],
    ['absent', {}, {}, true],
    ['changed', { name: 'b' }, { name: 'a' }, false],
    ['added', { name: 'a' }, {}, false],
    ['removed', {}, { name: 'a' }, false],
  ])('a field that is %s', (_, self, oldSelf, expected) => {
    expect(allowed(self, oldSelf)).toBe(expected);
  });
});
