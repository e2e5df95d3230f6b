import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { eventually } from '../support/eventually.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';
import { CHART } from './chart.ts';
import { buildImage } from './image.ts';
import { SmallNode } from './node/small-node.ts';

/** Pods get a view of the files of their own; some machines do not let ordinary users make one. */
const asRoot = process.getuid?.() === 0;
const userNamespace = asRoot ? [] : ['--user', '--map-root-user'];
const canUnshare = spawnSync('unshare', ['--mount', '--uts', ...userNamespace, 'true']).status === 0;

let world: RealWorld;
beforeAll(async () => {
  world = await RealWorld.start({ idle: true });
  await installKinds(world.cluster);
});

async function helm(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cluster.helm([...args, '--namespace', world.home], {
    timeoutMs: 150_000,
  });
  if (code !== 0) throw new Error(`helm ${args[0]}: ${stderr}`);
  return stdout;
}

/** Who holds the leader lease. */
async function leader(): Promise<string> {
  const lease = await world.cluster.get<{ spec: { holderIdentity?: string } }>(
    'lease',
    'boxwright-operator',
    '--namespace',
    world.home,
  );
  return lease.spec.holderIdentity ?? '';
}

describe('the chart where pods run', () => {
  it.skipIf(!canUnshare)(
    'installs until ready, is tested, upgrades, rolls back and goes, without a write that nobody asked for',
    async () => {
      using image = await buildImage();
      await using _ = { [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
      const { cluster, client, home: namespace } = world;
      await using node = new SmallNode({ cluster, client, namespace, image });
      const values = [
        ['crds.enabled=false', 'allowInsecure=true', 'allowLoopback=true', 'admissionPolicies.enabled=false'],
        [`namespaces={${world.namespace}}`, 'allowedHosts={127.0.0.1}'],
      ].flatMap((some) => ['--set', some.join(',')]);
      const wait = ['--wait', '--timeout', '120s'];
      try {
        await helm('install', 'boxwright', CHART, ...values, ...wait);
        expect(node.pods).toHaveLength(2);
        await eventually('one of them leads', async () => (await leader()) !== '');
        expect(await helm('test', 'boxwright', '--timeout', '60s')).toMatch(/Phase:\s+Succeeded/);

        await world.put(world.connection());
        await world.put(exampleText());
        await world.ready('Instance', 'web-eu', 60_000);
        const writes = world.serviceWrites().length;
        const before = new Set(node.pods);

        await helm('upgrade', 'boxwright', CHART, ...values, '--set', 'log.level=debug', ...wait);
        await eventually('the old pods have ended', () => node.pods.every((name) => !before.has(name)));
        await eventually('a new pod leads', async () =>
          node.pods.includes((await leader()).split('_')[0] ?? ''),
        );
        await helm('rollback', 'boxwright', '1', ...wait);
        await world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
        await eventually(
          'it is looked at again',
          async () => (await world.get('Instance', 'web-eu'))?.status?.['lastHandledRequest'] === 'now',
        );
        expect(world.serviceWrites().length - writes).toBe(0);
        expect(node.dead).toBe(0);

        const all = await world.kubectl('delete', 'boxwright', '--all', '--timeout=60s');
        expect(all).toMatchObject({ code: 0, stderr: '' });
        await helm('uninstall', 'boxwright', '--wait', '--timeout', '60s');
        await eventually('no pod is left', () => node.pods.length === 0);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${node.log.slice(-6_000)}`, { cause: error });
      }
    },
    480_000,
  );
});
