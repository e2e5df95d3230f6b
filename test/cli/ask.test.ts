import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';
import { installPlugin } from './plugin.ts';

const plugin = installPlugin();
beforeAll(() => installKinds(testCluster()));
afterAll(() => plugin[Symbol.dispose]());

describe('the annotations as commands', () => {
  it('ask once, and wait for the outcome', async () => {
    await using world = await RealWorld.start();
    await world.put(`${world.connection()}---${BOX_AND_POLICY}---${instance('web')}`);
    await world.ready('Instance', 'web');
    const count = (event: string): number =>
      world.serviceWrites().filter(({ path }) => path.endsWith(`/${event}`)).length;
    const reinstall = await plugin.call(world, ['reinstall', 'web', '--wait', '--timeout=60s']);
    expect(reinstall).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'Instance/web is asked to be reinstalled\nInstance/web: Settled: The instance is online, as declared\n',
    });
    expect(count('reinstall')).toBe(1);
    const redeploy = await plugin.call(world, ['redeploy', 'web', '--wait', '-o', 'json']);
    expect(redeploy.code).toBe(1);
    expect(JSON.parse(redeploy.stdout)).toMatchObject({
      kind: 'Request',
      command: 'redeploy',
      results: [
        { kind: 'Instance', name: 'web', ok: false, text: expect.stringMatching(/^refused: /) as string },
      ],
    });
    expect((await plugin.call(world, ['pause', 'instance/web', 'box/plain', '--wait'])).stdout).toContain(
      'Box/plain: ',
    );
    expect((await world.get('Instance', 'web'))?.metadata.annotations?.['boxwright.dev/paused']).toBe('true');
    expect((await plugin.call(world, ['resume', 'instance/web', '--wait'])).stdout).toContain(
      'Instance/web: ',
    );
    expect(
      (await world.get('Instance', 'web'))?.metadata.annotations?.['boxwright.dev/paused'],
    ).toBeUndefined();
    const refresh = await plugin.call(world, ['refresh', 'connection/main', '--wait']);
    expect(refresh).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Connection/main: ') as string,
    });
  });

  it('refuse what does not take them, and what a manifest says otherwise', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(`${world.connection()}---${instance('web', 'paused: true')}`);
    expect(await plugin.call(world, ['pause', 'connection/main'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pause is for Box, PolicyBox, Instance, InstanceLease only') as string,
    });
    expect(await plugin.call(world, ['resume', 'instance/web'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('set it to false in its manifest') as string,
    });
    const late = await plugin.call(world, ['refresh', 'connection/main', '--wait', '--timeout=1s']);
    expect(late.code).toBe(1);
    expect(late.stdout).toContain(
      'not done in time; see boxwright explain connection/main (no operator has answered)',
    );
  });
});
