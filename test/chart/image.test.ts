import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds, ROOT } from '../api/install.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { imageSettings } from '../support/image-settings.ts';
import { run } from '../support/run.ts';
import { buildImage, type Image } from './image.ts';

const UID = 65_532;
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

let image: Image;
let cluster: TestCluster;
beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
  image = await buildImage();
});
afterAll(() => image[Symbol.dispose]());

describe('the image', () => {
  it('is built from nothing that is not pinned, and runs as nobody special', () => {
    expect(DOCKERFILE).toMatch(/^ARG BASE_IMAGE$/m);
    expect(DOCKERFILE).not.toMatch(/^FROM (?!\$\{(BASE|BUILD)_IMAGE\})/m);
    expect(DOCKERFILE).toContain('*@sha256:*');
    expect(DOCKERFILE).toMatch(/^USER 65532:65532$/m);
    expect(DOCKERFILE).toMatch(/^HEALTHCHECK NONE$/m);
  });

  it('holds the bundle, without node_modules', () => {
    expect(DOCKERFILE).toContain('/build/dist/*.js /build/dist/package.json /app/');
    const files = readdirSync(image.folder);
    expect(files.filter((name) => !name.endsWith('.js'))).toEqual(['package.json']);
    expect(files).toEqual(expect.arrayContaining(['boxwright.js', 'start.js']));
    expect(readFileSync(join(image.folder, 'package.json'), 'utf8')).toBe('{"type":"module"}\n');
    const sizes = files.map((name) => statSync(join(image.folder, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(4_500_000);
  });

  it('tells every flag of the operator and its variable', async () => {
    const { OPERATOR_FLAGS } = await import('../../src/cli/operator/flags.ts');
    const { stdout } = await run(process.execPath, [
      join(image.folder, 'boxwright.js'),
      'operator',
      '--help',
    ]);
    for (const { flag, env } of Object.values(OPERATOR_FLAGS)) {
      expect(stdout).toContain(flag.split(' ')[0]);
      expect(stdout).toContain(env);
    }
  });

  it('becomes ready without writing a file, starting a process or being root', async () => {
    await using home = await cluster.namespace('image');
    const kubeconfig = join(image.scratch, 'kubeconfig');
    copyFileSync(cluster.kubeconfigPath, kubeconfig);
    const asRoot = process.getuid?.() === 0;
    if (asRoot) chownSync(kubeconfig, UID, UID);
    // Node’s permission model stands in for the read-only root: writing and child processes are refused.
    const child = spawn(
      process.execPath,
      ['--permission', '--allow-fs-read=*', ...image.entryPoint.slice(1), 'operator'],
      {
        cwd: '/',
        env: {
          ...imageSettings().env,
          NODE_OPTIONS: '--max-old-space-size=384',
          POD_NAMESPACE: home.name,
          BOXWRIGHT_NAMESPACES: home.name,
          BOXWRIGHT_KUBECONFIG: kubeconfig,
          BOXWRIGHT_METRICS_ADDRESS: '127.0.0.1:0',
          BOXWRIGHT_LOG_FORMAT: 'json',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
        ...(asRoot ? { uid: UID, gid: UID } : {}),
      },
    );
    const log: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
    try {
      const url = await eventually('it listens', () => /"url":"([^"]+)"/.exec(log.join(''))?.[1]);
      await eventually('it is ready', async () => (await fetch(`${url}/readyz`)).ok);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('boxwright_build_info');
      // The chart asks for 192 MiB: a third of it is for resources.
      const memory = Number(/^process_resident_memory_bytes (.+)$/m.exec(metrics)?.[1]);
      expect(memory).toBeLessThan(120 * 1024 * 1024);
      await eventually('it leads', async () => {
        const lease = await cluster.kubectl(['get', 'lease', 'boxwright-operator', '-n', home.name]);
        return lease.code === 0;
      });
    } catch (error) {
      throw new Error(log.join(''), { cause: error });
    } finally {
      await end(child);
    }
    expect(child.exitCode).toBe(0);
  }, 120_000);
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
