import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RealWorld, TOKEN } from '../support/real-world.ts';
import { Estate, SECRETS } from './estate.ts';
import { installPlugin } from './plugin.ts';

const plugin = installPlugin();
const scratch = mkdtempSync(join(tmpdir(), 'boxwright-import-'));
beforeAll(() => installKinds(testCluster()));
afterAll(() => {
  plugin[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

interface Report {
  resources: { kind: string; name: string; id: string; file: string }[];
  secrets: { secret: string; key: string }[];
  leftOut: string[];
}

/** A service that people have filled by hand, and a Connection to it. */
async function estate(): Promise<RealWorld> {
  const world = await RealWorld.start();
  const { sandbox } = world;
  const isIdle = (): boolean | undefined =>
    sandbox.admin.records('instances').every((one) => (one as { state?: string }).state !== 'processing') ||
    undefined;
  await new Estate(sandbox, TOKEN).build(async () => void (await eventually('the instances stand', isIdle)));
  await world.put(world.connection());
  await world.ready('Connection', 'main');
  return world;
}

/** Every file below a folder, by its path. */
function filesIn(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

describe('kubectl boxwright import', () => {
  it('writes manifests that take everything over and change nothing', async () => {
    await using world = await estate();
    const folder = join(scratch, 'all');
    const first = await plugin.call(world, ['import', '-o', folder, '--report', 'json']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(first.stdout) as Report;
    expect(report.resources.length + report.leftOut.length).toBeGreaterThanOrEqual(30);
    const files = filesIn(folder);

    const valid = await plugin.call(world, ['validate', '-f', folder, '-o', 'json']);
    expect(valid.code).toBe(0);
    expect(JSON.parse(valid.stdout)).toMatchObject({ resources: report.resources.length });

    for (const name of new Set(report.secrets.map(({ secret }) => secret))) {
      const keys = report.secrets.filter(({ secret }) => secret === name).map(({ key }) => key);
      const values = keys.map(
        (key) => `--from-literal=${key}=${SECRETS[key as keyof typeof SECRETS] ?? 'a key'}`,
      );
      await world.do('create', 'secret', 'generic', name, ...values);
    }
    world.sandbox.admin.clearCalls();
    await world.do('apply', '-k', folder);
    await world.waitReady(
      report.resources.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`),
      120,
    );
    // Nor does another look bring anything else.
    const instances = report.resources.filter(({ kind }) => kind === 'Instance');
    const looked = await plugin.call(world, [
      'refresh',
      ...report.resources.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`),
      '--wait',
    ]);
    expect(looked).toMatchObject({ code: 0, stderr: '' });
    expect(
      world
        .serviceWrites()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(instances.map(({ id }) => `PUT /services/instances/${id}`).toSorted());

    const again = await plugin.call(world, ['import', '-o', folder]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') as string });
    const second = await plugin.call(world, ['import', '-o', folder, '--overwrite']);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain(
      `Read ${folder}/IMPORT.md, then run: kubectl apply -n ${world.namespace} -k ${folder}`,
    );
    expect([...filesIn(folder)]).toEqual([...files]);
  });

  it('reads with the rights of its user, and sends credentials only where somebody vouches for the endpoint', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(world.connection());
    const folder = join(scratch, 'none');
    const unvetted = await plugin.call(world, ['import', '-o', folder]);
    expect(unvetted).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`confirm it with --endpoint ${world.url}`) as string,
    });
    expect(world.sandbox.admin.calls()).toEqual([]);
    const confirmed = await plugin.call(world, ['import', '-o', folder, '--endpoint', world.url]);
    expect(confirmed).toMatchObject({ code: 0, stderr: '' });
    const user = `reader-of-${world.namespace}`;
    await world.do('create', 'role', 'reader', '--verb=get,list', '--resource=connections.boxwright.dev');
    await world.do('create', 'rolebinding', 'reader', '--role=reader', `--user=${user}`);
    const env = { KUBECONFIG: world.cluster.kubeconfigFor(user) };
    const argv = ['import', '-o', join(scratch, 'denied'), '--endpoint', world.url];
    const denied = await eventually('the right has come', async () => {
      const result = await plugin.call(world, argv, { env });
      return result.stderr.includes('connections') ? undefined : result;
    });
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain(
      'the credentials of Connection/main cannot be read: the API server answers 403',
    );
  });
});
