import { expect, test } from 'vitest';
import { commitIn, objection, pinned, usesOf } from './pin-actions.ts';

const COMMIT = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const WORKFLOW = `jobs:
  check:
    steps:
      - uses: actions/checkout@unpinned # v4
      - name: another
        uses: docker/login-action@${OTHER} # v3
      - uses: ./here
`;

test('finds every action, with the tag that is meant', () => {
  expect(usesOf(WORKFLOW)).toEqual([
    { line: 4, action: 'actions/checkout', ref: 'unpinned', tag: 'v4' },
    { line: 6, action: 'docker/login-action', ref: OTHER, tag: 'v3' },
  ]);
});

test('puts the commit of the tag in, and leaves what cannot be asked', () => {
  const asked = pinned(WORKFLOW, (action) => (action === 'actions/checkout' ? COMMIT : undefined));
  expect(asked).toContain(`      - uses: actions/checkout@${COMMIT} # v4\n`);
  expect(asked).toContain(`        uses: docker/login-action@${OTHER} # v3\n`);
  expect(pinned(WORKFLOW, () => undefined)).toBe(WORKFLOW);
  expect(pinned(WORKFLOW, () => 'v4.2.0')).toBe(WORKFLOW);
});

test('refuses a placeholder, a tag and a commit without its tag', () => {
  const use = { line: 1, action: 'actions/checkout', tag: 'v4' };
  expect(objection({ ...use, ref: 'unpinned' })).toMatch(/not pinned/);
  expect(objection({ ...use, ref: 'v4' })).toMatch(/not pinned/);
  expect(objection({ ...use, ref: COMMIT, tag: undefined })).toMatch(/which tag/);
  expect(objection({ ...use, ref: COMMIT })).toBeUndefined();
});

test('takes the commit of an annotated tag, not the tag object', () => {
  expect(commitIn(`${OTHER}\trefs/tags/v4\n${COMMIT}\trefs/tags/v4^{}\n`)).toBe(COMMIT);
  expect(commitIn(`${OTHER}\trefs/tags/v4\n`)).toBe(OTHER);
  expect(commitIn('')).toBeUndefined();
});
