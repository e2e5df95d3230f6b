import { expect, test } from 'vitest';
import { buildArguments, pin, UnpinnedImageError, type Ask } from './image.ts';

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const silent: Ask = () => undefined;

function answering(answers: Record<string, string>): Ask {
  return (program, ...args) => answers[[program, ...args].at(-1) ?? ''] ?? answers[program];
}

test('takes an image that is pinned as it is, without asking', () => {
  expect(pin(`node@${DIGEST}`, silent)).toBe(`node@${DIGEST}`);
});

test('looks up the digest of an image that is not', () => {
  expect(pin('node:24', answering({ 'node:24': `${DIGEST}\n` }))).toBe(`node:24@${DIGEST}`);
});

test.each([
  ['node:24', silent, 'docker buildx cannot look it up'],
  ['node:24', answering({ 'node:24': '<no value>\n' }), '"<no value>" is no digest'],
  ['node@sha256:abc', silent, 'is no sha256 digest'],
  ['node@latest', silent, 'is no sha256 digest'],
])('refuses %s where no digest can be had', (image, ask, message) => {
  expect(() => pin(image, ask)).toThrow(UnpinnedImageError);
  expect(() => pin(image, ask)).toThrow(message);
});

test('builds from pinned images only, with SBOM and provenance', () => {
  const options = { tag: 'me/boxwright:1', base: 'node:24', buildBase: `node@${DIGEST}`, version: '1.0.0' };
  const args = buildArguments({ ...options, push: false }, answering({ 'node:24': DIGEST, git: '17' }));
  expect(args).toContain(`BASE_IMAGE=node:24@${DIGEST}`);
  expect(args).toContain(`BUILD_IMAGE=node@${DIGEST}`);
  expect(args).toContain('SOURCE_DATE_EPOCH=17');
  expect(args).toContain('--sbom=true');
  expect(() => buildArguments({ ...options, push: false }, silent)).toThrow(UnpinnedImageError);
});
