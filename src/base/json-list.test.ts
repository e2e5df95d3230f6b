import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from './exact-json.ts';
import { JsonList, type JsonListOptions } from './json-list.ts';
import { countJson, JsonLimitError } from './json-size.ts';

const LIMITS = { bytes: 1_000_000, values: 100_000, depth: 64 };

/** What a list makes of a text that arrives in pieces of a size. */
function read(
  text: string | Uint8Array,
  size: number,
  options: Partial<JsonListOptions> = {},
): { elements: unknown[]; around: unknown; most: number } {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const elements: unknown[] = [];
  let most = 0;
  const list = new JsonList({ limits: LIMITS, take: (some) => elements.push(...some), ...options });
  for (let at = 0; at < bytes.length; at += size) {
    list.push(bytes.subarray(at, at + size));
    most = Math.max(most, list.heldBytes);
  }
  return { elements, around: list.end(), most };
}

function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return 'refused';
  }
}

/** JSON, and what is nearly JSON: one sign of it is changed, taken away or put there. */
const nearlyJson = fc
  .tuple(
    fc.array(fc.jsonValue(), { maxLength: 5 }),
    fc.nat(),
    fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '1', 'e', '-', 'n', 'u'),
    fc.nat(3),
  )
  .map(([list, place, sign, how]) => {
    const text = JSON.stringify(list);
    const at = place % (text.length + 1);
    return [
      text,
      text.slice(0, at) + sign + text.slice(at),
      text.slice(0, at) + sign + text.slice(at + 1),
      text.slice(0, at) + text.slice(at + 1),
    ][how] as string;
  });

describe('a list that is read piece by piece', () => {
  it('is what the parser makes of the whole, wherever the pieces end', () => {
    fc.assert(
      fc.property(nearlyJson, fc.integer({ min: 1, max: 40 }), (text, size) => {
        const whole = outcomeOf(() => parseExactJson(text));
        const expected = Array.isArray(whole) ? whole : 'refused';
        expect(outcomeOf(() => read(text, size).elements)).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is found as a member, whatever else says so', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'items"', '"items', 'item', 'Items'), fc.jsonValue()),
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.dictionary(fc.constantFrom('b', 'x"items"', 'metadata'), fc.jsonValue()),
        fc.integer({ min: 1, max: 40 }),
        (before, items, after, size) => {
          const text = JSON.stringify({ ...before, items, ...after }, undefined, size % 2);
          const found = read(text, size, { member: 'items' });
          expect(found.elements).toEqual(parseExactJson(JSON.stringify(items)));
          expect(found.around).toEqual(parseExactJson(JSON.stringify({ ...before, items: [], ...after })));
        },
      ),
    );
  });

  it('may be missing as a member, or null', () => {
    for (const text of ['{"a":1}', '{"items":null,"b":[1]}']) {
      expect(read(text, 3, { member: 'items' })).toMatchObject({ elements: [], around: JSON.parse(text) });
    }
    expect(() => read('{"items":[1', 3, { member: 'items' })).toThrow(SyntaxError);
    expect(() => read('{"a":1', 3, { member: 'items' })).toThrow(SyntaxError);
  });

  it('keeps whole numbers of any size, and is parsed as it is told to', () => {
    const text = '[{"n":9007199254740993,"__proto__":{"x":1}},-18446744073709551616]';
    expect(
      read(text, 7, { parse: (piece) => parseExactJson(piece, (name) => name === '__proto__') }).elements,
    ).toEqual([{ n: 9007199254740993n }, -18446744073709551616n]);
  });

  it('is refused where its bytes are no UTF-8', () => {
    expect(() => read(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 2)).toThrow(TypeError);
  });

  it('keeps no more in hand than an element and a piece, however long it is', () => {
    const text = `[${Array.from({ length: 50_000 }, (_, i) => `{"id":"entry-${i}","tags":["a","b"]}`).join(',')}]`;
    const { elements, most } = read(text, 65_536);
    expect(elements).toHaveLength(50_000);
    expect(most).toBeLessThan(150_000);
  });

  it.each([
    ['bytes', `["${'x'.repeat(1_000_001)}"]`],
    ['values', `[[${'{},'.repeat(40_000)}1]]`],
    ['depth', `[${'['.repeat(64)}${']'.repeat(64)}]`],
  ])('is refused for an element beyond the limit of %s, before it is parsed', (_, text) => {
    expect(() => read(text, 4_096)).toThrow(JsonLimitError);
  });
});

const count = (text: string): number => countJson(Buffer.from(text), LIMITS).values;

it('the values of JSON are about what it takes when it is parsed', () => {
  expect(count('[{},{},{}]')).toBe(10);
  expect(count('{"a":"[{,:\\"","b":[1,2]}')).toBe(8);
  expect(() => count(`[${'{},'.repeat(100_000)}1]`)).toThrow(/more than 100000 values/);
});
