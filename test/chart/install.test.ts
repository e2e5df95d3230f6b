import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { GO_BUILD_TIMEOUT } from '../support/go-program.ts';
import { ownCluster } from '../support/own-cluster.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';
import { CHART, type Rendered } from './chart.ts';
import { chartWithChangedCrd } from './changed-chart.ts';
import { HELMS } from './helms.ts';
import { buildImage } from './image.ts';
import { SmallNode } from './node/small-node.ts';

/** Pods get a view of the files of their own; some machines do not let ordinary users make one. */
const asRoot = process.getuid?.() === 0;
const userNamespace = asRoot ? [] : ['--user', '--map-root-user'];
const canUnshare = spawnSync('unshare', ['--mount', '--uts', ...userNamespace, 'true']).status === 0;

const DESCRIPTION = '{.spec.versions[0].schema.openAPIV3Schema.description}';

/** Who holds the leader lease. */
async function leader({ cluster, home }: RealWorld): Promise<string> {
  const lease = await cluster.get<{ spec: { holderIdentity?: string } }>(
    'lease',
    'boxwright-operator',
    '--namespace',
    home,
  );
  return lease.spec.holderIdentity ?? '';
}

/** What a release holds, with the mark that changes when it is written, status aside. */
async function marks(cluster: TestCluster, manifest: string): Promise<string[]> {
  const args = ['get', '--filename', '-', '--output', 'json'];
  const { stdout, stderr } = await cluster.kubectl(args, { input: manifest });
  if (stderr !== '') throw new Error(stderr);
  interface Marked extends Rendered {
    metadata: Rendered['metadata'] & { generation?: number; resourceVersion: string };
  }
  return (JSON.parse(stdout) as { items: Marked[] }).items.map(
    ({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.generation ?? metadata.resourceVersion}`,
  );
}

describe.each(HELMS)('the chart with Helm $major where pods run', ({ program }) => {
  it.skipIf(!canUnshare)(
    'installs until ready, is tested, upgrades, rolls back and goes, without a write that nobody asked for',
    async () => {
      using image = await buildImage();
      await using own = await ownCluster();
      const { cluster } = own;
      const run = await program(cluster);
      await using world = await RealWorld.start({ idle: true, cluster });
      const { client, home: namespace } = world;
      const helm = async (...args: string[]): Promise<string> => {
        const result = await run([...args, '--namespace', namespace], { timeoutMs: 150_000 });
        if (result.code !== 0) throw new Error(`helm ${args[0]}: ${result.stderr}`);
        return result.stdout;
      };
      await using node = new SmallNode({ cluster, client, namespace, image });
      const values = ['allowInsecure=true,allowLoopback=true', 'allowedHosts={127.0.0.1:*}']
        .concat(`namespaces={${world.namespace}}`)
        .flatMap((some) => ['--set', some]);
      const wait = ['--wait', '--timeout', '120s'];
      const looksAgain = async (stamp: string): Promise<void> => {
        await world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': stamp });
        const look = async (): Promise<boolean> =>
          (await world.get('Instance', 'web-eu'))?.status?.['lastHandledRequest'] === stamp;
        await eventually('it is looked at again', look, { timeoutMs: 60_000 });
      };
      const boxSays = async (): Promise<string> =>
        (await world.do('get', 'crd', 'boxes.boxwright.dev', '-o', `jsonpath=${DESCRIPTION}`)).trim();
      try {
        await helm('install', 'boxwright', CHART, ...values, ...wait);
        expect(node.pods).toHaveLength(2);
        await eventually('one of them leads', async () => (await leader(world)) !== '');
        expect(await helm('test', 'boxwright', '--timeout', '60s')).toMatch(/Phase:\s+Succeeded/);

        await world.put(world.connection());
        await world.put(exampleText());
        await world.ready('Instance', 'web-eu', 60_000);
        const writes = world.serviceWrites().length;
        const before = new Set(node.pods);
        const said = await boxSays();

        // An upgrade: other values, and a definition that says more.
        using changed = chartWithChangedCrd();
        const upgrade = [
          'upgrade',
          'boxwright',
          changed.path,
          ...values,
          '--set',
          'log.level=debug',
          ...wait,
        ];
        await helm(...upgrade);
        expect(await boxSays()).toBe(changed.description);
        await eventually('the old pods have ended', () => node.pods.every((name) => !before.has(name)));
        await eventually('a new pod leads', async () =>
          node.pods.includes((await leader(world)).split('_')[0] ?? ''),
        );

        // The same once more changes nothing.
        const manifest = await helm('get', 'manifest', 'boxwright');
        const unchanged = await marks(cluster, manifest);
        await helm(...upgrade);
        expect(await marks(cluster, manifest)).toEqual(unchanged);
        expect(unchanged.filter((each) => each.startsWith('CustomResourceDefinition/'))).toHaveLength(5);

        await helm('rollback', 'boxwright', '1', ...wait);
        expect(await boxSays()).toBe(said);
        await looksAgain('after the rollback');

        // Gone with resources left: they and their kinds stay, and the next installation goes on with them.
        const left = (await world.do('get', 'boxwright', '-o', 'name')).trim().split('\n').toSorted();
        await helm('uninstall', 'boxwright', '--wait', '--timeout', '60s');
        await eventually('no pod is left', () => node.pods.length === 0);
        expect((await world.do('get', 'boxwright', '-o', 'name')).trim().split('\n').toSorted()).toEqual(
          left,
        );
        await helm('install', 'boxwright', CHART, ...values, ...wait);
        await looksAgain('after the return');
        await world.ready('Instance', 'web-eu', 60_000);
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
    GO_BUILD_TIMEOUT,
  );
});
