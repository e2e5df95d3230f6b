import { describe, expect, it } from 'vitest';
import { globOf } from './glob.ts';
import { namesFor, validName } from './names.ts';

describe('the name of a resource', () => {
  it.each([
    ['Web App', 'web-app'],
    ['../../etc/passwd', 'etc-passwd'],
    ['-a-', 'a'],
    ['Größe', 'gro-e'],
    ['日本', 'unnamed'],
    ['', 'unnamed'],
    ['\u0000\u001b[31m', '31m'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
  ])('is valid: %j is %j', (text, name) => expect(validName(text)).toBe(name));

  it('of several that come to one goes to the oldest, and stays with it', () => {
    const old = { id: 'i-1', name: 'Web', created: '2020' };
    const young = { id: 'i-0', name: 'web', created: '2021' };
    const both = namesFor([young, old], new Map());
    expect(both.get('i-1')).toBe('web');
    expect(both.get('i-0')).toMatch(/^web-[a-z2-7]{8}$/);
    expect(namesFor([old], new Map()).get('i-1')).toBe('web');
  });

  it('is that of the resource which the record is already, and never that of another one', () => {
    const taken = new Map([
      ['shop', 'i-1'],
      ['web', undefined],
    ]);
    const names = namesFor(
      [
        { id: 'i-1', name: 'web' },
        { id: 'i-2', name: 'web' },
      ],
      taken,
    );
    expect(names.get('i-1')).toBe('shop');
    expect(names.get('i-2')).toMatch(/^web-[a-z2-7]{8}$/);
  });
});

describe('a pattern for names', () => {
  it.each([
    ['*', '', true],
    ['web-*', 'web-eu', true],
    ['web-*', 'Web-eu', false],
    ['*eu*', 'web-eu-1', true],
    ['w?b', 'w🎉b', true],
    ['w?b', 'wb', false],
    ['[a-z]', 'a', false],
    ['*a*a*a*a*a*a*a*a*b', 'a'.repeat(5_000), false],
  ])('%j and %j: %s', (pattern, name, fits) => expect(globOf(pattern)(name)).toBe(fits));
});
