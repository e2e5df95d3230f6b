import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkImports, objection } from './check-imports.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'boxwright-imports-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe('checkImports', () => {
  it('finds nothing in this project', () => {
    expect(checkImports(resolve(import.meta.dirname, '..'))).toEqual([]);
  });

  it('names file and line of a planted violation', () => {
    plant('src/base/clock.ts', 'export {};\n');
    plant('src/kube/cache.ts', `import '../base/clock.ts';\n\nimport type { Box } from '../api/box.ts';\n`);
    expect(checkImports(root)).toEqual([
      { at: 'src/kube/cache.ts:3', reason: 'kube imports only base, not src/api/box.ts' },
    ]);
  });

  it.each([
    ['a re-export', `export * from '../sandbox/engine.ts';`],
    ['an import of several lines', `import {\n  a,\n  b,\n} from '../sandbox/engine.ts';`],
    ['a dynamic import', `const engine = await import('../sandbox/engine.ts');`],
    ['an import of types', `import type { Engine } from '../sandbox/engine.ts';`],
    ['an import type', `type Engine = import('../sandbox/engine.ts').Engine;`],
  ])('sees %s', (_what, text) => {
    plant('src/service/client.ts', text);
    expect(checkImports(root)).toHaveLength(1);
  });

  it('takes no notice of comments and packages', () => {
    plant(
      'src/base/clock.ts',
      `import { join } from 'node:path';\n/**\n * import { x } from '../cli/main.ts';\n */\n// import '../cli/main.ts';\n`,
    );
    expect(checkImports(root)).toEqual([]);
  });
});

describe('objection', () => {
  it.each([
    ['src/cli/dev.ts', 'src/sandbox/service.ts'],
    ['src/cli/dev.ts', 'src/controllers/instance/controller.ts'],
    ['src/controllers/instance/decide.ts', 'src/controllers/instance/state.ts'],
    ['src/controllers/instance/decide.ts', 'src/controllers/record/claim.ts'],
    ['src/controllers/instance/decide.ts', 'src/controllers/context.ts'],
    ['src/controllers/instance/decide.ts', 'src/controllers/box/index.ts'],
    ['src/controllers/all.ts', 'src/controllers/box/controller.ts'],
    ['src/service/client.test.ts', 'src/sandbox/service.ts'],
    ['src/kube/cache.test.ts', 'test/support/cluster.ts'],
  ])('lets %s import %s', (from, to) => {
    expect(objection(from, to)).toBeUndefined();
  });

  it.each([
    ['src/base/clock.ts', 'src/kube/cache.ts'],
    ['src/api/box.ts', 'src/kube/object.ts'],
    ['src/kube/cache.ts', 'src/service/client.ts'],
    ['src/service/client.ts', 'src/sandbox/model.ts'],
    ['src/sandbox/model.ts', 'src/service/models/box.ts'],
    ['src/devcluster/index.ts', 'src/kube/kubeconfig.ts'],
    ['src/controllers/box/act.ts', 'src/cli/main.ts'],
    ['src/controllers/instance/decide.ts', 'src/controllers/box/decide.ts'],
    ['src/controllers/record/claim.ts', 'src/controllers/box/index.ts'],
    ['src/cli/dev.ts', 'test/support/cluster.ts'],
    ['src/cli/dev.ts', 'scripts/stages.ts'],
    ['src/kube/cache.ts', 'src/kube/cache.test.ts'],
    ['src/plugins/a.ts', 'src/plugins/b.ts'],
  ])('refuses that %s imports %s', (from, to) => {
    expect(objection(from, to)).toBeTypeOf('string');
  });
});
