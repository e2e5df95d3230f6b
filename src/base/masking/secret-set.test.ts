import { array, assert, constantFrom, integer, nat, oneof, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENCODINGS } from '../../../test/support/encodings.ts';
import { sha256Base32 } from '../hash.ts';
import { KnownSecrets } from './known-secrets.ts';
import { MASK, SecretSet } from './secret-set.ts';
import { workedMs } from '../../../test/support/held-loop.ts';

const SECRET = 'c4n4ry-Wert&"1"/ü+z';

function knowing(...values: string[]): SecretSet {
  const set = new SecretSet();
  for (const value of values) set.note(value);
  return set;
}

describe('a text', () => {
  it.each(Object.entries(ENCODINGS))('shows no secret: %s', (_, encode) => {
    const quoted = encode(SECRET);
    const masked = knowing(SECRET).mask(`the value '${quoted}' is not good`);
    expect(masked).toMatch(/^the value '\**/);
    expect(masked).toContain(MASK);
    expect(masked).toMatch(/' is not good$/);
    // Nothing of it is left that would tell more than a character at an edge of base64.
    expect(masked.length).toBeLessThanOrEqual("the value '' is not good".length + MASK.length + 6);
  });

  it('shows no secret of any form in any encoding, wherever it stands', () => {
    const word = string({ minLength: 4, maxLength: 90, unit: 'grapheme' }).filter(
      (text) => !/^[\s+]|[\s+]$|[\s+]{2,}|\p{Cc}/u.test(text),
    );
    const around = string({ maxLength: 20, unit: 'grapheme-ascii' });
    assert(
      property(
        tuple(word, constantFrom(...Object.keys(ENCODINGS)), around, around),
        ([secret, name, a, b]) => {
          if (!secret.isWellFormed()) return;
          const quoted = (ENCODINGS[name] ?? String)(secret);
          // As a message has it: in quotes, which no encoding runs into.
          const masked = knowing(secret).mask(`${a} '${quoted}' ${b}`);
          expect(masked).toContain(MASK);
          expect(masked).not.toContain(`'${quoted}'`);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('keeps what is no secret', () => {
    const text =
      'POST /services/boxes answered 400: the name "web" is taken, 100% of the quota is used (a+b=c)';
    expect(knowing(SECRET, 'another-one').mask(text)).toBe(text);
    expect(new SecretSet().mask(text)).toBe(text);
  });

  it('shows no part of a value that was cut by somebody, nor of one that a cut ends in', () => {
    const token = 'tok-0123456789-abcdefghijklmnopqrstuvwxyz';
    expect(knowing(token).mask(`too long: ${token.slice(0, 20)}… (41)`)).toBe(`too long: ${MASK}… (41)`);
    for (const encode of Object.values(ENCODINGS)) {
      const quoted = encode(token);
      for (let length = 12; length < quoted.length; length += 1) {
        const masked = knowing(token).mask(`the value is ${quoted.slice(0, length)}`, true);
        const rest = masked.replaceAll(MASK, '').slice('the value is '.length);
        // Three characters of it, however they are written.
        expect({ quoted, rest: rest.length < 24 }).toEqual({ quoted, rest: true });
      }
    }
  });

  it('shows no line of a file, and no piece of a long line', () => {
    const key = Array.from({ length: 30 }, (_, i) => sha256Base32(`line ${i}`)).join('\n');
    const set = knowing(`-----BEGIN KEY-----\n${key}\n-----END KEY-----`);
    expect(set.mask(`said ${key.split('\n')[7]}!`)).toBe(`said ${MASK}!`);
    expect(set.mask(`said ${JSON.stringify(key)}!`)).toBe(`said "${MASK}"!`);
    const long = Array.from({ length: 10 }, (_, i) => sha256Base32(`part ${i}`)).join('');
    expect(knowing(long).mask(`<${long}>`)).toBe(`<${MASK}>`);
    expect(knowing(long).mask(`<${long.slice(0, 333)}>`)).toBe(`<${MASK}>`);
  });

  it('shows no part of a file or a URL that is quoted alone', () => {
    const set = knowing(
      '# how to log in\nhost: db.example.com\nDB_PASSWORD=hunter22\n"apiToken" : "abc12345",\nNOTE=some-longer-thing-to-hide\n',
      'postgres://shop:s3cr3t-0f-the-shop@db.example.com/shop',
    );
    expect(set.mask("user 'hunter22' and abc12345: no")).toBe(`user '${MASK}' and ${MASK}: no`);
    expect(set.mask('set some-longer-thing-to-hide here')).toBe(`set ${MASK} here`);
    expect(set.mask('password s3cr3t-0f-the-shop is wrong')).toBe(`password ${MASK} is wrong`);
    expect(set.mask('the host is down, log in later')).toBe('the host is down, log in later');
  });

  it('is cut before it is searched', () => {
    const masked = knowing(SECRET).mask(`${'x'.repeat(8_184)}${SECRET} and more`);
    expect(masked.length).toBeLessThanOrEqual(8_193);
    expect(masked).not.toContain(SECRET.slice(0, 4));
  });

  it('takes no longer than it should, whatever the values and the text are', () => {
    const set = new SecretSet();
    for (let i = 0; i < 10_000; i += 1) set.note(`${'a'.repeat(11 + (i % 50))}${i}`);
    set.note('a'.repeat(8_192));
    set.note('%61'.repeat(2_000));
    const slowest = ['a', '%61', '\\u0061', 'YWFh', '6161', '&#97;', 'a ', 'aaaaaaaaaaaa%']
      .map((unit) => unit.repeat(8_192))
      .map((text) => {
        const before = workedMs();
        set.mask(text);
        return workedMs() - before;
      });
    expect(Math.max(...slowest)).toBeLessThan(200);
  });
});

describe('the values that are known', () => {
  it('are of one Connection each', () => {
    const known = new KnownSecrets();
    known.of('shop/main').note('hunter22');
    expect(known.mask('shop/main', 'is hunter22')).toBe(`is ${MASK}`);
    expect(known.mask('shop/other', 'is hunter22')).toBe('is hunter22');
    expect(known.mask('lab/main', 'is hunter22')).toBe('is hunter22');
    known.drop('shop/main');
    expect(known.mask('shop/main', 'is hunter22')).toBe('is hunter22');
  });

  it('are pushed out by nobody else, however many Connections he makes', () => {
    const known = new KnownSecrets(10_000);
    known.of('shop/main').note('hunter22-of-the-shop');
    for (let i = 0; i < 300; i += 1) known.of(`evil/c${i % 50}`).note(`pushing-${i}-${'x'.repeat(100)}`);
    expect(known.mask('shop/main', 'is hunter22-of-the-shop')).toBe(`is ${MASK}`);
    // His newest is known as well, his oldest is not.
    expect(known.mask('evil/c49', `pushing-299-${'x'.repeat(100)}`)).toBe(MASK);
    expect(known.mask('evil/c0', 'pushing-0-xxxx')).not.toContain(MASK);
  });

  it('are forgotten oldest first, and one that is noted again counts as new', () => {
    const set = knowing('value-one', 'value-two', 'value-six', 'value-ten');
    set.note('value-one');
    set.forgetOldest();
    expect(set.mask('value-one value-two')).toBe(`${MASK} value-two`);
  });

  it('are no words that stand in any text', () => {
    expect(knowing('abc', '', ' \n ').mask('abc')).toBe('abc');
  });

  it('are found as before, and no others, after some were forgotten', () => {
    // Many begin alike, some are each other's reverse, and some stand in others.
    const text = oneof(
      string({ unit: constantFrom('a', 'b', ' '), minLength: 4, maxLength: 30 }),
      integer({ max: 40, min: 0 }).map((n) => `begins-all-alike-${n}`),
      constantFrom('a+b(c)*[d]', '.*.*.*', '^$^$', 'x'.repeat(80), 'abcd', 'dcba', 'xabcdx'),
    );
    assert(
      property(array(text, { minLength: 1, maxLength: 60 }), nat(60), (all, times) => {
        const set = new SecretSet();
        for (const value of all) set.note(value);
        for (let i = 0; i < times; i += 1) set.forgetOldest();
        for (const value of all.slice(-1)) set.note(value);
        const known = (all.at(-1) ?? '').replaceAll(/\s+/g, ' ').trim();
        expect(set.mask(`is ${known}!`).includes(known)).toBe(known.length < 4);
        for (const _ of all) set.forgetOldest();
        expect([set.characters, set.mask(all.join(' '))]).toEqual([0, all.join(' ')]);
      }),
    );
  });

  it('take no time of others, and the event loop is not held while some are forgotten', () => {
    const known = new KnownSecrets();
    for (let i = 0; i < 10_000; i += 1) known.of(`evil/c-${i}`).note(`${i}-`.padEnd(220, `${i * 7_919}`));
    const set = known.of('shop/main');
    const before = workedMs();
    for (let i = 0; i < 200; i += 1) set.note(`a-line-of-a-file-of-the-shop-${i}`);
    expect(known.mask('shop/main', 'a-line-of-a-file-of-the-shop-7')).toBe(MASK);
    expect(workedMs() - before).toBeLessThan(200);
    let slowest = 0;
    for (let i = 0; i < 500; i += 1) {
      const begun = workedMs();
      set.note(`${i}`.padEnd(8_192, `${i * 7_919} `));
      set.mask('some text');
      slowest = Math.max(slowest, workedMs() - begun);
    }
    expect(slowest).toBeLessThan(200);
  });
});
