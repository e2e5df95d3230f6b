import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TRAPS } from '../../../../test/cli/estate.ts';
import { seeded } from '../../../../test/support/world.ts';
import { MANIFEST_YAML } from '../../manifest-yaml.ts';
import { yamlOf } from './yaml.ts';

describe('a document of YAML', () => {
  it.each(TRAPS)('says %j as a value and as a key, whoever reads it', (text) => {
    const object = { value: text, list: [text], map: { [text]: 'x' } };
    for (const options of [MANIFEST_YAML, {}]) expect(parse(yamlOf(object), options)).toEqual(object);
  });

  it('puts in quotes what only needs them, and nothing else', () => {
    expect(yamlOf({ a: 'plain', b: 'on', c: 1, d: '<<' })).toBe('a: plain\nb: "on"\nc: 1\nd: "<<"\n');
  });

  it('keeps whole numbers of any size', () => {
    expect(yamlOf({ a: 9_007_199_254_740_993n })).toBe('a: 9007199254740993\n');
  });

  it('keeps comments on their line, whatever they say', () => {
    expect(yamlOf({ a: 1 }, ['one\nkind: Secret', '\u2028two'])).toBe('# one kind: Secret\n# two\n\na: 1\n');
  });

  it('says any text of any characters', () => {
    const random = seeded(3);
    const points = [0x20, 0x7f, 0x100, 0x2100, 0xd800, 0x1_0000];
    for (let times = 0; times < 500; times++) {
      const text = Array.from({ length: 12 }, () => {
        const limit = points[Math.floor(random() * points.length)] ?? 0x20;
        return String.fromCodePoint(Math.floor(random() * limit));
      }).join('');
      if (!text.isWellFormed()) continue;
      for (const options of [MANIFEST_YAML, {}]) expect(parse(yamlOf({ text }), options)).toEqual({ text });
    }
  });
});
