import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../api/install.ts';
import { run, type RunResult } from '../support/run.ts';

/** Somewhere without node_modules on the way up. */
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-bundle-'));
  const built = await run(process.execPath, ['scripts/bundle.ts', folder], { cwd: ROOT });
  if (built.code !== 0) throw new Error(built.stderr);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bundle(...argv: string[]): Promise<RunResult> {
  return run(process.execPath, [join(folder, 'boxwright.js'), ...argv], {
    cwd: folder,
    env: { TMPDIR: folder, KUBECONFIG: '' },
    timeoutMs: 150_000,
  });
}

describe('the program in one file', () => {
  it.each(['operator', 'dev', 'sandbox', 'version'])('prints the help of %s', async (command) => {
    const { code, stdout, stderr } = await bundle(command, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: boxwright ${command}`);
  });

  it('knows its version', async () => {
    const { stdout } = await bundle('version', '--output', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'boxwright.dev/v1alpha1' });
  });

  it('brings the examples to Ready, where kubectl’s package is installed', async () => {
    const { code, stdout, stderr } = await run(
      process.execPath,
      [join(ROOT, 'dist', 'boxwright.js'), 'dev', '--exit'],
      { env: { TMPDIR: folder, KUBECONFIG: '' }, timeoutMs: 150_000 },
    );
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/All 6 resources are Ready after [\d.]+ s/);
    expect(stdout).toMatch(/First Instance Online after [\d.]+ s/);
    expect(readdirSync(folder).filter((name) => name.startsWith('boxwright-'))).toEqual([]);
  }, 180_000);
});
