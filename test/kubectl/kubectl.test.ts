import { beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';

beforeAll(async () => {
  await installKinds(testCluster());
});

const box = (name: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec: {connectionRef: {name: main}, requirements: [Linux]}
`;

// gitops checklist G44 and G46.
describe('kubectl', () => {
  it('prunes what left the set, and its record', async () => {
    await using world = await RealWorld.start();
    const apply = (manifests: string): Promise<{ code: number; stdout: string; stderr: string }> =>
      world.cluster.kubectl(
        `--namespace ${world.namespace} apply --server-side --prune --applyset=configmaps/shop -f -`.split(
          ' ',
        ),
        { input: manifests, env: { KUBECTL_APPLYSET: 'true' } },
      );
    await world.put(world.connection());
    expect(await apply(`${box('kept')}---${box('left')}`)).toMatchObject({ code: 0, stderr: '' });
    await world.waitReady(['box/kept', 'box/left']);
    const pruned = await apply(box('kept'));
    expect(pruned).toMatchObject({ code: 0, stderr: '' });
    expect(pruned.stdout).toMatch(/left pruned/);
    const waited = await world.kubectl('wait', '--for=delete', 'box/left', '--timeout=40s');
    expect(waited).toMatchObject({ code: 0, stderr: '' });
    expect(world.sandbox.admin.records('boxes')).toMatchObject([{ name: 'kept' }]);
  });

  it('tells whoever waits for a deletion what it waits for', async () => {
    await using world = await RealWorld.start();
    await world.put(`${world.connection()}---${box('user')}`);
    await world.waitReady(['box/user']);
    await world.delete('Connection', 'main');
    const { message } = await world.condition('Connection', 'main', { reason: 'InUse' });
    expect(message).toContain('user');
    await world.delete('Box', 'user');
    expect(await world.kubectl('wait', '--for=delete', 'connection/main', '--timeout=40s')).toMatchObject({
      code: 0,
    });
  });

  it('shows every kind in 160 columns, and what counts in 80', async () => {
    await using world = await RealWorld.start();
    await world.put(`${world.connection()}---\n${exampleText()}`);
    await world.waitReady(['connection/main', 'box/web', 'instance/web-eu', 'instancelease/evening']);
    const widths: Record<string, number[]> = {};
    for (const { plural } of KINDS) {
      const width = async (...args: string[]): Promise<number> => {
        const shown = await world.do('get', plural, ...args);
        return Math.max(...shown.split('\n').map((line) => line.trimEnd().length));
      };
      widths[plural] = [await width(), await width('-o', 'wide')];
    }
    const tooWide = Object.entries(widths).filter(([, [plain = 0, wide = 0]]) => plain > 80 || wide > 160);
    expect(tooWide).toEqual([]);
  });
});
