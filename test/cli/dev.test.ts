import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { getPrograms, streamProgress } from '../../src/devcluster/index.ts';
import { createSandbox, type Address, type Sandbox } from '../../src/sandbox/index.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { boxwright, type Running } from './boxwright.ts';

const cluster = testCluster();
const ALL_READY = /All 7 resources are Ready after \d/;

let scratch = '';
let running: Running | undefined;
let count = 0;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'boxwright-cli-'));
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
  running = undefined;
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function dev(...argv: string[]): Running {
  running = boxwright(['dev', ...argv], { TMPDIR: scratch });
  return running;
}

/** On the cluster of the tests, in namespaces of its own. */
function devHere(...argv: string[]): { run: Running; namespace: string; system: string } {
  count += 1;
  const namespace = `cli-dev-${process.pid}-${count}`;
  const system = `${namespace}-system`;
  const run = dev(
    `--kubeconfig=${cluster.kubeconfigPath}`,
    `--namespace=${namespace}`,
    `--system-namespace=${system}`,
    ...argv,
  );
  return { run, namespace, system };
}

async function namespaceExists(name: string): Promise<boolean> {
  const { stdout } = await cluster.kubectl(['get', 'namespace', name, '--ignore-not-found', '-o', 'name']);
  return stdout.trim() !== '';
}

/** A box that contains another one. */
function nesting(name: string, other: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: { name: ${name} }
spec:
  connectionRef: { name: main }
  variables: [{ name: inner, type: Box, boxRef: { name: ${other} } }]
---`;
}

function examplesWith(name: string, manifest: string): string {
  const folder = mkdtempSync(join(scratch, 'examples-'));
  writeFileSync(join(folder, name), manifest);
  return folder;
}

describe('boxwright dev, on its own', { timeout: 240_000 }, () => {
  it('prints commands that work, and ends with 0 after ^C', async () => {
    const { child, ended, output, sees } = dev();
    await sees(/\^C ends it/, 120_000);
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output.stdout)?.[1] ?? '';
    const { stdout } = await cluster.kubectl(['get', 'instance', 'web-eu'], {
      env: { KUBECONFIG: kubeconfig },
    });
    expect(stdout).toMatch(/web-eu +True +Online/);
    const link = /logs in once: (http:\/\/127\.0\.0\.1:\d+\/page\/login\/\S+)/.exec(output.stderr)?.[1] ?? '';
    const follow = (): Promise<Response> => fetch(link, { redirect: 'manual' });
    const cookie = (await follow()).headers.get('set-cookie') ?? '';
    const page = await fetch(new URL('/page/instances', link), { headers: { cookie } });
    expect(await page.text()).toContain('web-eu');
    expect((await follow()).status).toBe(403);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    const gone = await cluster.kubectl(['get', 'nodes'], { env: { KUBECONFIG: kubeconfig } });
    expect(gone.code).not.toBe(0);
  });

  it('counts the time that is given from when the control plane is there', async () => {
    const programs = await getPrograms({
      env: process.env,
      clock: systemClock,
      progress: streamProgress(process.stderr, systemClock),
    });
    const assets = mkdtempSync(join(scratch, 'slow-'));
    symlinkSync(programs.etcd, join(assets, 'etcd'));
    // As slow as a build would be.
    const slow = `#!/bin/sh\nsleep 20\nexec '${programs['kube-apiserver']}' "$@"\n`;
    writeFileSync(join(assets, 'kube-apiserver'), slow, { mode: 0o755 });
    const folder = examplesWith('box.yaml', nesting('outer', 'inner').replace(/ {2}variables.*\n/, ''));
    running = boxwright(['dev', '--exit', '--timeout=20s', '--examples', folder], {
      TMPDIR: scratch,
      KUBEBUILDER_ASSETS: assets,
    });
    await running.endsWith(0);
    expect(running.output.stdout).toMatch(/All 2 resources are Ready after \d/);
    // Nobody is there to follow it, and logs of jobs are read by many.
    expect(running.output.stderr).not.toContain('/login/');
  });

  it('ends with 130 when ^C comes before it is done', async () => {
    const { child, ended, sees } = dev();
    await sees(/starting the control plane/);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(readdirSync(scratch).filter((name) => name.startsWith('boxwright-'))).toEqual([]);
  });
});

describe('boxwright dev, on an existing cluster', { timeout: 240_000 }, () => {
  beforeAll(() => installKinds(cluster));

  it('deletes what it applied and says what it leaves', async () => {
    const { run, namespace, system } = devHere('--exit');
    await run.endsWith(0);
    expect(run.output.stdout).toMatch(ALL_READY);
    expect(run.output.stdout).toContain(`namespaces: ${system}`);
    expect(run.output.stdout).toContain(
      `kubectl --kubeconfig ${cluster.kubeconfigPath} delete namespace ${system}`,
    );
    // The kinds were there before: they are not its to remove.
    expect(run.output.stdout).not.toContain('delete crd');
    await eventually('the namespace is gone', async () => !(await namespaceExists(namespace)));
    expect(await namespaceExists(system)).toBe(true);
    await cluster.kubectl(['delete', 'namespace', system, '--wait=false']);
  });

  it('ends with 1 and the reasons when something does not become Ready in time', async () => {
    const folder = examplesWith(
      'box.yaml',
      `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: { name: broken }
spec:
  connectionRef: { name: main }
  events:
    install: { configMapKeyRef: { name: nowhere, key: install.sh } }
`,
    );
    const { run, system } = devHere('--exit', '--timeout=30s', '--examples', folder);
    expect(await run.ended).toBe(1);
    expect(run.output.stderr).toContain('Not Ready after 30.0 s:');
    expect(run.output.stderr).toMatch(/Box\/broken: \w+: .*nowhere/);
    expect(run.output.stderr).toMatch(/The operator’s log: .*operator\.log/);
    await cluster.kubectl(['delete', 'namespace', system, '--wait=false']);
  });

  it('ends with 1, the reasons and the next steps as soon as something is stalled', async () => {
    const folder = examplesWith('box.yaml', nesting('snake', 'tail') + nesting('tail', 'snake'));
    const { run, namespace, system } = devHere(
      '--exit',
      '--timeout=10m',
      '--output=json',
      '--examples',
      folder,
    );
    expect(await run.ended).toBe(1);
    const { stdout, stderr } = run.output;
    expect(stderr).toMatch(/Not everything can become Ready, after \d/);
    expect(stderr).toMatch(/Box\/snake: NeedsUser: .*snake → tail → snake.*\n +The message names the field/);
    const told = JSON.parse(stdout) as { resources: unknown[] };
    expect(told).toMatchObject({ outcome: 'Stalled', namespace });
    expect(told.resources).toHaveLength(3);
    expect(told.resources).toContainEqual(
      expect.objectContaining({ kind: 'Box', name: 'tail', stalled: true, reason: 'NeedsUser' }),
    );
    await cluster.kubectl(['delete', 'namespace', system, '--wait=false']);
  });

  it('ends with 1 and the words of the API server when a manifest is refused', async () => {
    const manifest = 'apiVersion: boxwright.dev/v1alpha1\nkind: Box\nmetadata: {name: bad}\nspec: {}\n';
    const { run, system } = devHere('--exit', '--examples', examplesWith('box.yaml', manifest));
    expect(await run.ended).toBe(1);
    expect(run.output.stderr).toMatch(/Box bad: .*connectionRef/);
    await cluster.kubectl(['delete', 'namespace', system, '--wait=false']);
  });

  it('does not work beside an operator that is there already', async () => {
    const { run, namespace, system } = devHere('--keep');
    await run.sees(/\^C ends it/, 90_000);
    const second = boxwright(
      [
        'dev',
        `--kubeconfig=${cluster.kubeconfigPath}`,
        `--namespace=${namespace}-2`,
        `--system-namespace=${system}`,
      ],
      { TMPDIR: scratch },
    );
    expect(await second.ended).toBe(1);
    expect(second.output.stderr).toContain(`is at work in namespace ${system}`);
    run.child.kill('SIGTERM');
    await run.endsWith(0);
    // --keep: the resources are still there, which shows on their namespace.
    expect(run.output.stdout).toContain(`delete namespace ${namespace} ${system}`);
    expect(await namespaceExists(namespace)).toBe(true);
    await cluster.kubectl(['delete', 'namespace', `${namespace}-2`, system, '--wait=false']);
  });

  it('names what the cluster does not know', async () => {
    const manifest = 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n';
    const { run, system } = devHere('--exit', '--examples', examplesWith('g.yaml', manifest));
    expect(await run.ended).toBe(1);
    expect(run.output.stderr).toContain('the cluster has no kind Gadget in example.com/v1');
    await cluster.kubectl(['delete', 'namespace', system, '--wait=false']);
  });
});

describe('boxwright dev, with an existing service', { timeout: 240_000 }, () => {
  let service: Sandbox;
  let address: Address;

  beforeAll(async () => {
    service = createSandbox();
    address = await service.start();
  });
  afterAll(() => service.stop());

  it('logs in with what the environment holds and leaves no record there', async () => {
    const { email, password } = service.credentials;
    count += 1;
    running = boxwright(
      [
        'dev',
        '--exit',
        `--kubeconfig=${cluster.kubeconfigPath}`,
        `--namespace=cli-dev-${process.pid}-${count}`,
        `--system-namespace=cli-dev-${process.pid}-${count}-system`,
        `--endpoint=${address.url}`,
      ],
      { TMPDIR: scratch, BOXWRIGHT_EMAIL: email, BOXWRIGHT_PASSWORD: password ?? '' },
    );
    const { endsWith, output } = running;
    await endsWith(0);
    expect(output.stdout + output.stderr).not.toContain(password);
    const called = service.admin.calls({}).map(({ method, path }) => `${method} ${path.split('?')[0]}`);
    expect(called).toContain('POST /services/instances');
    expect(service.admin.snapshot().tables['instances']).toEqual([]);
    expect(service.admin.snapshot().tables['boxes']).toEqual([]);
  });
});
