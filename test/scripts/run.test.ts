import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

/** A project of one dependency, whose `npm ci` is a script that the test writes. */
let project = '';
let path = '';
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'boxwright-project-'));
  for (const folder of ['scripts', 'tools']) mkdirSync(join(project, folder));
  copyFileSync(resolve('scripts/run.mjs'), join(project, 'scripts/run.mjs'));
  path = `${join(project, 'tools')}:/usr/bin:/bin`;
  lock('package-lock.json', '1.0.0');
  npm(
    `mkdir -p node_modules/.bin; touch node_modules/.bin/node; cp package-lock.json node_modules/.package-lock.json`,
  );
});
afterEach(() => rmSync(project, { recursive: true }));

function lock(file: string, version: string): void {
  const packages = {
    '': {},
    'node_modules/thing': { version, integrity: `sha512-${version}` },
    'node_modules/only-elsewhere': { version, optional: true },
  };
  writeFileSync(join(project, file), JSON.stringify({ packages }));
}

function npm(script: string): void {
  const file = join(project, 'tools/npm');
  writeFileSync(file, `#!/bin/sh\necho "npm $1"\n${script}\n`);
  chmodSync(file, 0o755);
}

function wrapped(...command: string[]) {
  return run(process.execPath, [join(project, 'scripts/run.mjs'), ...command], { env: { PATH: path } });
}

describe('scripts/run.mjs', () => {
  it('installs what the lock file says on a fresh clone, and not again', async () => {
    const first = await wrapped('echo', 'hello');
    expect(first).toMatchObject({ code: 0, stdout: 'npm ci\nhello\n' });
    expect(first.stderr).toContain('because nothing is installed yet');
    expect(await wrapped('echo', 'hello')).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
  });

  it('installs again when the lock file has changed, and names the package', async () => {
    await wrapped('true');
    lock('package-lock.json', '1.0.1');
    const { stdout, stderr } = await wrapped('true');
    expect(stdout).toBe('npm ci\n');
    expect(stderr).toContain('thing is not the one in package-lock.json');
  });

  it('does without packages that are optional and not made for this system', async () => {
    await wrapped('true');
    const packages = { 'node_modules/thing': { version: '1.0.0', integrity: 'sha512-1.0.0' } };
    writeFileSync(join(project, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
    expect(await wrapped('true')).toMatchObject({ code: 0, stdout: '' });
  });

  it('ends with 1 and a reason when npm fails or leaves the Node of the project out', async () => {
    npm('exit 3');
    expect(await wrapped('true')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm ci failed'),
    });
    npm('mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json');
    expect(await wrapped('true')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ignore-scripts'),
    });
  });

  it('ends as the command ends', async () => {
    expect((await wrapped('sh', '-c', 'exit 7')).code).toBe(7);
    expect((await wrapped('sh', '-c', 'kill -TERM $$')).code).toBe(143);
    expect((await wrapped('no-such-command')).code).toBe(1);
  });

  it('puts the programs of the project first on PATH', async () => {
    await wrapped('true');
    expect((await wrapped('sh', '-c', 'echo "$PATH"')).stdout).toBe(
      `${join(project, 'node_modules/.bin')}:${path}\n`,
    );
  });

  it('passes SIGTERM on, and waits for what the command does with it', async () => {
    await wrapped('true');
    const script = 'trap "echo stopped; exit 5" TERM; echo ready; while :; do sleep 0.1; done';
    const child = spawn(process.execPath, [join(project, 'scripts/run.mjs'), 'sh', '-c', script], {
      env: { PATH: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await lines.next()).value).toBe('stopped');
    expect(await exited).toEqual([5, null]);
  });
});
