import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { components, requiredVersion } from './components.ts';

describe('components', () => {
  it('tells each program its version, so that kubectl does not complain of v0.0.0', () => {
    const [, apiServer] = components();
    expect(apiServer?.ldflags).toContain(`gitVersion=${apiServer?.version} `);
    expect(apiServer?.cacheKey).toMatch(/^kubernetes-v\d+\.\d+\.\d+-[0-9a-f]{12}$/);
  });

  it('are those that the README names', () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    for (const { name, version } of components()) expect(readme).toContain(`| ${name} | ${version} |`);
  });
});

describe('requiredVersion', () => {
  it.each([
    ['alone', 'require k8s.io/kubernetes v1.36.3\n'],
    ['in a block', 'require (\n\tk8s.io/api v0.36.3 // indirect\n\tk8s.io/kubernetes v1.36.3\n)\n'],
  ])('finds a requirement that stands %s', (_where, goMod) => {
    expect(requiredVersion(goMod, 'k8s.io/kubernetes')).toBe('v1.36.3');
  });

  it('names a module that go.mod does not require', () => {
    expect(() => requiredVersion('module example.org\n', 'k8s.io/kubernetes')).toThrow('k8s.io/kubernetes');
  });
});
