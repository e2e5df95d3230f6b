import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { defaulted, flag, list, object, oneOf, optional, text } from './build.ts';
import { NotStructuralError, toStructural } from './structural.ts';

describe('a definition as a CRD carries it', () => {
  test('does not demand what has a default or may be absent', () => {
    const schema = object('An object.', {
      demanded: text('A field.'),
      filled: defaulted(flag('A field.'), false),
      open: optional(text('A field.')),
    });
    expect(toStructural(schema)).toMatchObject({
      required: ['demanded'],
      properties: { filled: { type: 'boolean', default: false } },
    });
  });

  test('turns rules into CEL and leaves our own marks out', () => {
    const schema = object(
      'An object.',
      { name: text('A field.') },
      { rules: [{ rule: 'true', message: 'never' }], reference: 'Secret' },
    );
    expect(toStructural(schema)).toEqual({
      type: 'object',
      description: 'An object.',
      properties: { name: { type: 'string', description: 'A field.', minLength: 1, maxLength: 256 } },
      required: ['name'],
      'x-kubernetes-validations': [{ rule: 'true', message: 'never' }],
    });
  });

  test('makes lists of strings sets, unless they are atomic', () => {
    expect(toStructural(list('A list.', text('An item.'), { maxItems: 3 }))).toMatchObject({
      'x-kubernetes-list-type': 'set',
    });
    expect(toStructural(list('A list.', text('An item.'), { maxItems: 3, atomic: true }))).toMatchObject({
      'x-kubernetes-list-type': 'atomic',
    });
  });
});

const bounds = { description: 'A field.', maxLength: 5 };
const refused: [string, Parameters<typeof toStructural>[0]][] = [
  ['has no description', Type.String({ maxLength: 5 })],
  ['is a string without maxLength', Type.String({ description: 'A field.' })],
  ['is a list without maxItems', Type.Array(text('An item.'), { description: 'A list.' })],
  ['is a number without bounds', Type.Integer({ description: 'A number.' })],
  ['look-around', Type.String({ ...bounds, pattern: '^(?!a)b$' })],
  ['YAML 1.1 reads as a boolean', oneOf('A field.', ['On', 'Off'])],
  ['holds ${ or {{', text('Write ${this}.')],
  ['holds ${ or {{', text('Write {{ this }}.')],
  ['a rule holds ${ or {{', text('A field.', { rules: [{ rule: 'true', message: '${no}' }] })],
  ['a CRD cannot carry anyOf', Type.Unsafe({ type: 'string', ...bounds, anyOf: [] })],
  ['a CRD cannot carry const', Type.Literal('a', bounds)],
  ['a CRD cannot carry patternProperties', Type.Record(Type.String(), Type.String(), bounds)],
  [
    'a CRD cannot carry additionalProperties',
    Type.Object({}, { description: 'x', additionalProperties: false }),
  ],
  ['type undefined', Type.Union([Type.String(), Type.Boolean()])],
  ['type ["string","null"]', Type.Unsafe({ type: ['string', 'null'], ...bounds })],
  ['type "null"', Type.Null()],
];

describe('a definition that a CRD cannot carry', () => {
  test.each(refused)('is refused: %s', (complaint, schema) => {
    const nested = object('An object.', { inner: object('An object.', { field: schema }) });
    expect(() => toStructural(nested)).toThrow(NotStructuralError);
    expect(() => toStructural(nested)).toThrow(complaint);
    expect(() => toStructural(nested)).toThrow(/^inner\.field/);
  });
});
