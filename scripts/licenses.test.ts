import { expect, test } from 'vitest';
import { lockedPackages, objections } from './licenses.ts';

test('every package of the lock file is under a licence that is taken', () => {
  const packages = lockedPackages();
  expect(Object.keys(packages).length).toBeGreaterThan(50);
  expect(objections(packages)).toEqual([]);
});

test('names a package without a licence, and one whose licence asks something of who runs the program', () => {
  expect(
    objections({
      '': {},
      'node_modules/a': { version: '1.0.0', license: 'MIT' },
      'node_modules/b': { version: '2.0.0' },
      'node_modules/a/node_modules/c': { version: '3.0.0', license: 'AGPL-3.0-only' },
      'node_modules/d': { version: '4.0.0', license: 'MPL-2.0' },
      'node_modules/e': { version: '5.0.0', license: 'MPL-2.0', dev: true },
      'node_modules/f': { version: '6.0.0', license: '(GPL-3.0-only OR MIT)' },
      'node_modules/g': { version: '7.0.0', license: 'MIT AND GPL-3.0-only' },
    }),
  ).toEqual([
    expect.stringMatching(/^b@2\.0\.0 names no licence/),
    expect.stringMatching(/^c@3\.0\.0 is under AGPL-3\.0-only, .*into the program$/),
    expect.stringMatching(/^d@4\.0\.0 is under MPL-2\.0/),
    expect.stringMatching(/^g@7\.0\.0 /),
  ]);
});
