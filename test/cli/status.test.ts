import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';
import { installPlugin } from './plugin.ts';

const plugin = installPlugin();
beforeAll(() => installKinds(testCluster()));
afterAll(() => plugin[Symbol.dispose]());

interface Report {
  total: number;
  ready: number;
  resources: { kind: string; name: string; ready: string; parent?: { kind: string; name: string } }[];
}

describe('kubectl boxwright', () => {
  it('is found by kubectl, which completes its words', async () => {
    const cluster = testCluster();
    const version = await cluster.kubectl(['boxwright', 'version'], { env: plugin.env });
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^boxwright \d/) as string });
    const help = await cluster.kubectl(['boxwright', '--help'], { env: plugin.env });
    expect(help.stdout).toContain('Usage: kubectl boxwright [options] [command]');
    const words = await cluster.kubectl(['__complete', 'boxwright', 'status', '--wat'], { env: plugin.env });
    expect(words.stdout).toMatch(/^--watch\t.*\n:4\n$/);
  });
});

describe('kubectl boxwright status', () => {
  it('shows what there is as a tree, and by its exit code whether all is well', async () => {
    await using world = await RealWorld.start();
    const empty = await plugin.call(world, ['status']);
    expect(empty).toMatchObject({ code: 0, stderr: '' });
    expect(empty.stdout).toContain(
      `no resources of Boxwright in namespace ${world.namespace}; -A looks in all`,
    );
    await world.put(`${world.connection()}---${BOX_AND_POLICY}---${instance('web')}`);
    await world.waitReady(['connection/main', 'box/plain', 'policybox/small', 'instance/web']);
    const well = await plugin.call(world, ['status']);
    expect(well).toMatchObject({ code: 0, stderr: '' });
    expect(well.stdout).toMatch(/^Connection\/main +True/m);
    expect(well.stdout).toMatch(/^├─ Box\/plain +True/m);
    expect(well.stdout).toMatch(/^│ {2}└─ Instance\/web +True/m);
    expect(well.stdout).toMatch(/4 resources: 4 Ready\n$/);
    await world.put(instance('lost').replace('{name: plain}', '{name: absent}'));
    await world.condition('Instance', 'lost', { reason: 'WaitingForReference' });
    const waiting = await plugin.call(world, ['status', 'instance/lost']);
    expect(waiting).toMatchObject({ code: 3, stderr: '' });
    expect(waiting.stdout).toMatch(/^Box\/absent +not there/m);
    expect(waiting.stdout).not.toContain('Instance/web');
    const json = await plugin.call(world, ['status', '-o', 'json']);
    const report = JSON.parse(json.stdout) as Report;
    expect(report).toMatchObject({ total: 5, ready: 4 });
    expect(report.resources).toContainEqual(
      expect.objectContaining({ kind: 'Instance', name: 'web', parent: { kind: 'Box', name: 'plain' } }),
    );
    const yaml = await plugin.call(world, ['status', '-o', 'yaml']);
    expect(parse(yaml.stdout)).toEqual(report);
    const absent = await plugin.call(world, ['status', 'box/other']);
    expect(absent).toEqual({
      code: 1,
      stdout: '',
      stderr: `boxwright: there is no Box/other in namespace ${world.namespace}\n`,
    });
  });

  it('works with the rights of its user, and says what those do not show', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(world.connection());
    const kubeconfig = world.cluster.kubeconfigFor(`viewer-of-${world.namespace}`);
    const none = await plugin.call(world, ['status'], { env: { KUBECONFIG: kubeconfig } });
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(/boxes.* is forbidden|connections.* is forbidden/);
    const user = `viewer-of-${world.namespace}`;
    await world.do('create', 'role', 'seer', '--verb=get,list,watch', '--resource=connections.boxwright.dev');
    await world.do('create', 'rolebinding', 'seer', '--role=seer', `--user=${user}`);
    const some = await eventually('the right has come', async () => {
      const result = await plugin.call(world, ['status'], { env: { KUBECONFIG: kubeconfig } });
      return result.code === 1 ? undefined : result;
    });
    expect(some.code).toBe(3);
    expect(some.stdout).toMatch(/^Connection\/main +Unknown/m);
    expect(some.stdout).toContain('No operator has looked at it yet');
    expect(some.stderr).toContain('instances are left out: the API server answers 403');
  });

  it('follows until ^C, which is no failure', async () => {
    await using world = await RealWorld.start();
    await world.put(world.connection());
    await world.ready('Connection', 'main');
    const child = spawn('kubectl-boxwright', ['status', '-n', world.namespace, '-w'], {
      env: { ...process.env, ...plugin.env, KUBECONFIG: world.cluster.kubeconfigPath },
    });
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
    await eventually(
      'it tells of the connection',
      () => /Connection\/main +Ready=True/.exec(told) ?? undefined,
    );
    await world.put(BOX_AND_POLICY);
    await eventually('it tells of the box', () => /Box\/plain +Ready=True/.exec(told) ?? undefined);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('says of a cluster that it cannot use what is wrong', async () => {
    await using world = await RealWorld.start({ idle: true });
    const nobody = await plugin.call(world, ['status', '--context', 'other']);
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('--context other:');
    const both = await plugin.call(world, ['status', '-w', '-o', 'json']);
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--watch writes text only') as string,
    });
  });
});
