import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { GO_BUILD_TIMEOUT, HAS_GO } from '../support/go-program.ts';
import { bootstrap, CONTROLLERS, FLUX, sampleFiles, startFlux } from './stage/flux.ts';
import { has, HOME, LOST, SHOP, Stage, type Live } from './stage/stage.ts';
import { Table } from './stage/table.ts';

/** Milliseconds, for one check. */
const CHECK_MS = 1_800_000;
/** Minutes without a change in Git, in which nothing may be written. */
const IDLE_MINUTES = Number(process.env['GITOPS_IDLE_MINUTES'] ?? 10);
const INSTANCE = 'deploy/examples/instance.yaml';

describe.skipIf(!HAS_GO)('the samples under the real controllers of Flux', { timeout: CHECK_MS }, () => {
  const table = new Table('Flux');
  let stage: Stage;
  let files: Record<string, string>;
  beforeAll(async () => {
    stage = await Stage.start();
    table.with(...(await startFlux(stage)));
    files = sampleFiles(stage);
  }, GO_BUILD_TIMEOUT);
  afterAll(() => stage?.[Symbol.asyncDispose](), 120_000);

  const kustomization = (name: string): Promise<Live> =>
    stage.get('kustomizations.kustomize.toolkit.fluxcd.io', name, FLUX);
  const isReady = async (name: string, revision?: string): Promise<boolean> => {
    const live = await kustomization(name);
    const { observedGeneration, lastAppliedRevision = '' } = live.status ?? {};
    return (
      has(live, 'Ready', 'True') &&
      observedGeneration === live.metadata.generation &&
      (revision === undefined || (lastAppliedRevision as string).endsWith(revision))
    );
  };
  const why = async (): Promise<string> =>
    [
      await stage.kubectl('get', 'kustomizations,helmreleases,ocirepositories,gitrepositories', '-A'),
      await stage.kubectl('get', 'boxwright,pods', '-A', '-o', 'wide'),
      ...CONTROLLERS.map((name) => stage.tailOf(name)),
    ].join('\n');
  const expectSoon = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    try {
      await stage.until(what, look);
    } catch (error) {
      throw new Error(`${what}\n${await why()}`, { cause: error });
    }
  };
  /** As `flux reconcile` does. */
  const look = async (...what: string[]): Promise<void> => {
    const stamp = `reconcile.fluxcd.io/requestedAt=${randomUUID()}`;
    for (const one of what) await stage.kubectl('annotate', '--overwrite', '-n', FLUX, one, stamp);
  };
  const push = async (changes: Record<string, string | null>): Promise<string> => {
    const commit = await stage.git.commit(changes);
    await look(`gitrepository/${FLUX}`);
    return commit;
  };
  const instance = (change: (spec: Record<string, unknown>) => object): string => {
    const { spec, ...rest } = parse(files[INSTANCE] ?? '') as Live;
    return stringify({ ...rest, spec: { ...spec, ...change(spec ?? {}) } });
  };
  const shop = (change: object): Record<string, string> => {
    const path = 'deploy/flux/cluster/shop.yaml';
    const { spec, ...rest } = parse(files[path] ?? '') as Live;
    return { [path]: stringify({ ...rest, spec: { ...spec, ...change } }) };
  };

  const suspend = async (on: boolean): Promise<void> => {
    const spec = JSON.stringify({ spec: { suspend: on } });
    await stage.kubectl('patch', '-n', FLUX, 'kustomization/shop', '--type=merge', '-p', spec);
  };

  it('everything from zero by the sample, Ready only once Instances are Online', async () => {
    await stage.git.commit(files);
    await stage.cluster.apply(
      bootstrap(stage)
        .map((object) => stringify(object))
        .join('---\n'),
    );
    let early = false;
    await expectSoon('shop is Ready', async () => {
      if (!(await isReady('shop'))) return false;
      early = (await stage.get('instance', 'web-eu')).status?.phase !== 'Online';
      return true;
    });
    expect(early).toBe(false);
    for (const name of ['namespaces', 'boxwright']) expect(await isReady(name)).toBe(true);
    expect(has(await stage.get('helmrelease', 'boxwright', HOME), 'Ready', 'True')).toBe(true);
    expect(stage.service.admin.records('instances')).toHaveLength(1);
  });

  it('a change waits for its generation', async () => {
    const changed = instance(() => ({ tags: ['shop', 'eu', 'blue'] }));
    const commit = await push({ [INSTANCE]: changed });
    let stale = false;
    await expectSoon('shop is Ready at the commit', async () => {
      if (!(await isReady('shop', commit))) return false;
      const { metadata, status } = await stage.get('instance', 'web-eu');
      stale = metadata.generation !== status?.observedGeneration || metadata.generation === 1;
      return true;
    });
    expect(stale).toBe(false);
    expect(stage.service.admin.records('instances')[0]).toMatchObject({
      tags: expect.arrayContaining(['blue']) as unknown,
    });
  });

  it('drift is put back', async () => {
    await patch({ tags: ['mine'] });
    await look('kustomization/shop');
    await expectSoon('the tags are those of Git', async () => (await tags()).includes('blue'));
    await expectSoon('shop is Ready', () => isReady('shop'));
    expect(await tags()).not.toContain('mine');
  });

  it('suspended, drift stays; resumed, it is put back', async () => {
    await suspend(true);
    await patch({ tags: ['mine'] });
    await look('kustomization/shop');
    await expectSoon('Flux has seen that it is suspended', async () =>
      stage.tailOf('kustomize-controller').includes('suspended'),
    );
    expect(await tags()).toEqual(['mine']);
    await suspend(false);
    await expectSoon('the tags are those of Git', async () => (await tags()).includes('blue'));
    await expectSoon('shop is Ready', () => isReady('shop'));
  });

  // G3
  it('what is Stalled fails at the next poll, and the mend is applied', async () => {
    const path = 'deploy/examples/lost.yaml';
    await push({ [path]: stringify(LOST) });
    await expectSoon('it is Stalled', async () =>
      has(await stage.get('instance', 'lost'), 'Stalled', 'True'),
    );
    const start = systemClock.monotonic();
    await expectSoon('shop has failed', async () => {
      const { status } = await kustomization('shop');
      return status?.conditions?.some(({ reason }) => reason === 'HealthCheckFailed') === true;
    });
    const after = Math.round((systemClock.monotonic() - start) / 1000);
    const commit = await push({ [path]: null });
    await expectSoon('shop is Ready at the commit', () => isReady('shop', commit));
    expect((await stage.ours()).map(({ metadata }) => metadata.name)).not.toContain('lost');
    table.note(`failed ${after} s after Stalled; its timeout is 45 min`);
  });

  // G7
  it('substitution puts text where text belongs', async () => {
    const variables = [{ name: 'PORT', type: 'Port', value: '${port}' }];
    const commit = await push({
      [INSTANCE]: instance(() => ({ variables })),
      ...shop({ postBuild: { substitute: { port: '"8081"' } } }),
    });
    await expectSoon('shop is Ready at the commit', () => isReady('shop', commit));
    expect((await stage.get('instance', 'web-eu')).spec).toMatchObject({ variables: [{ value: '8081' }] });
  });

  it(`nothing is written in ${IDLE_MINUTES} idle minutes, with a look in each`, async () => {
    await expectSoon('shop is Ready', () => isReady('shop'));
    const versions = async (): Promise<string[]> =>
      (await stage.ours()).map(
        ({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`,
      );
    const [before, seen] = [await versions(), stage.cluster.auditLog().length];
    for (let minute = 0; minute < IDLE_MINUTES; minute++) {
      await systemClock.sleep(60_000);
      await look('kustomization/shop');
    }
    expect(stage.writesSince(seen)).toEqual([]);
    expect(await versions()).toEqual(before);
    table.note(`0 writes, ${before.length} resourceVersions as they were`);
  });

  it('prune waits for the end on the service', async () => {
    const commit = await push({ [INSTANCE]: null, 'deploy/examples/instance-lease.yaml': null });
    await expectSoon('shop is Ready at the commit', () => isReady('shop', commit));
    await expectSoon('the instance is gone', async () =>
      (await stage.ours()).every(({ kind }) => kind !== 'Instance'),
    );
    expect(stage.service.admin.records('instances')).toEqual([]);
  });

  // G2
  it('all taken away in one commit, the login too, with a restart of the operator meanwhile', async () => {
    await push({
      [INSTANCE]: files[INSTANCE] ?? '',
      'deploy/examples/instance-lease.yaml': files['deploy/examples/instance-lease.yaml'] ?? '',
    });
    await expectSoon(
      'the instance is back',
      async () => (await stage.get('instance', 'web-eu')).status?.phase === 'Online',
    );
    const names = ['namespaces', 'boxwright', 'shop'].map((name): [string, null] => [
      `deploy/flux/cluster/${name}.yaml`,
      null,
    ]);
    await push({
      ...Object.fromEntries(names),
      'deploy/flux/cluster/kustomization.yaml': stringify({
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: [],
      }),
    });
    await expectSoon('resources are being deleted', async () =>
      (await stage.ours()).some(({ metadata }) => 'deletionTimestamp' in metadata),
    );
    await stage.kubectl('delete', 'pods', '-n', HOME, '--all', '--grace-period=0', '--wait=false');
    await expectSoon('all resources are gone', async () => (await stage.ours()).length === 0);
    for (const kind of ['instances', 'boxes'] as const) expect(stage.service.admin.records(kind)).toEqual([]);
    await expectSoon(
      'the Kustomization is gone',
      async () => !(await stage.kubectl('get', 'kustomizations', '-n', FLUX, '-o', 'name')).includes('/shop'),
    );
    expect(await stage.kubectl('get', 'namespace', SHOP, '-o', 'jsonpath={.status.phase}')).toBe('Active');
  });

  async function patch(spec: object): Promise<void> {
    await stage.kubectl(
      'patch',
      '-n',
      SHOP,
      'instance/web-eu',
      '--type=merge',
      '-p',
      JSON.stringify({ spec }),
    );
  }
  async function tags(): Promise<string[]> {
    return (await stage.get('instance', 'web-eu')).spec?.['tags'] as string[];
  }
});
