import { expect, it } from 'vitest';
import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  parseKubernetesVersion,
} from './kubernetes-version.ts';

it('reads releases, with and without the v, and nothing else', () => {
  const texts = ['1.36.3', 'v1.30.0', '1.36', '1.36.0-rc.1', '1.36.3 ', '', '1.36.3.1', 'v1.99999.0'];
  expect(texts.map(parseKubernetesVersion)).toEqual([
    { major: 1, minor: 36, patch: 3 },
    { major: 1, minor: 30, patch: 0 },
    ...Array.from({ length: 6 }, () => undefined),
  ]);
});

it('orders by number, not by letter', () => {
  const versions = ['1.9.0', '1.10.2', '1.10.10', '1.36.3'].map(
    (text) => parseKubernetesVersion(text) ?? { major: 0, minor: 0, patch: 0 },
  );
  expect(versions.toReversed().toSorted(compareKubernetesVersions).map(formatKubernetesVersion)).toEqual([
    '1.9.0',
    '1.10.2',
    '1.10.10',
    '1.36.3',
  ]);
});
