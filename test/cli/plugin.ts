import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from '../api/install.ts';
import type { RunOptions, RunResult } from '../support/run.ts';
import type { RealWorld } from '../support/real-world.ts';

/** The program as kubectl finds it: a folder with `kubectl-boxwright` and what completes its words. */
export interface Plugin extends Disposable {
  /** `kubectl boxwright <argv>` in the namespace of a world. */
  call(world: RealWorld, argv: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** What a shell has to have so that kubectl finds it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Installs the plugin in a folder of its own. */
export function installPlugin(): Plugin {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-plugin-'));
  const main = JSON.stringify(join(ROOT, 'src', 'cli', 'main.ts'));
  for (const name of ['kubectl-boxwright', 'kubectl_complete-boxwright']) {
    writeFileSync(join(folder, name), `#!/usr/bin/env node\nimport(${main});\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const path = [folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const env = { PATH: path, NO_COLOR: '1' };
  return {
    env,
    call: (world, [command = '', ...argv], options = {}) =>
      world.cluster.kubectl(['boxwright', command, '-n', world.namespace, ...argv], {
        ...options,
        env: { ...env, ...options.env },
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
