import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson, parseExactJson } from './exact-json.ts';
import { canonicalJson } from './hash.ts';

const drop = (name: string): boolean => name === '__proto__';

describe('JSON with whole numbers of any size', () => {
  it('comes back digit for digit', () => {
    const text = '{"a":9007199254740993,"b":[-18446744073709551616,1.5,"9007199254740993"],"c":7}';
    const value = parseExactJson(text);
    expect(value).toEqual({
      a: 9007199254740993n,
      b: [-18446744073709551616n, 1.5, '9007199254740993'],
      c: 7,
    });
    expect(exactJson(value)).toBe(text);
    expect(canonicalJson(value)).toBe(text);
  });

  it('is what JSON.parse and JSON.stringify make of everything else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        if (/\d{16}/.test(text)) return;
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
        expect(exactJson(value)).toBe(text);
      }),
    );
  });

  it('keeps every whole number', () => {
    fc.assert(
      fc.property(fc.bigInt(), (number) => {
        const text = `{"n":[${number}]}`;
        expect(exactJson(parseExactJson(text))).toBe(text);
        expect(canonicalJson(parseExactJson(text))).toBe(text);
      }),
    );
  });

  it('leaves out the members that it is told to, beside a long number or not', () => {
    expect(parseExactJson('{"__proto__":1,"a":[{"__proto__":{}}]}', drop)).toEqual({ a: [{}] });
    expect(parseExactJson('{"__proto__":1,"a":9007199254740993}', drop)).toEqual({ a: 9007199254740993n });
  });

  it('throws for what is no JSON', () => {
    expect(() => parseExactJson('{"a":9007199254740993')).toThrow(SyntaxError);
  });
});
