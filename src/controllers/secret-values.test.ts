import { expect, test } from 'vitest';
import { SecretValues } from './secret-values.ts';

function noted(...texts: string[]): SecretValues {
  const values = new SecretValues();
  for (const text of texts) values.note(Buffer.from(text).toString('base64'));
  return values;
}

test('keeps values, without the line break that editors leave', () => {
  expect(noted('a-password\n', 'another-one').all()).toEqual(['a-password', 'another-one']);
});

test('leaves out words that stand in any text', () => {
  expect(noted('true', 'on').all()).toEqual([]);
});

test('keeps the telling lines of files, since a log quotes lines', () => {
  const key = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
  expect(noted(`-----BEGIN-----\n${key}\nend\n`).all()).toContain(key);
  expect(noted(`${'x'.repeat(9_000)}\n${key}`).all()).toEqual(['x'.repeat(9_000), key]);
});

test('forgets those read longest ago', () => {
  const values = noted('the-first-one', 'the-second-one');
  for (let at = 0; at < 9_999; at++) values.note(Buffer.from(`value-${at}`).toString('base64'));
  values.note(Buffer.from('the-second-one').toString('base64'));
  expect(values.all()).not.toContain('the-first-one');
  expect(values.all()).toContain('the-second-one');
});
