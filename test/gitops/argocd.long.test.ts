import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { GO_BUILD_TIMEOUT, HAS_GO } from '../support/go-program.ts';
import { above, ARGOCD, HAS_REDIS, sampleFiles, startArgoCd } from './stage/argocd.ts';
import { has, LOST, SHOP, Stage, type Live } from './stage/stage.ts';
import { Table } from './stage/table.ts';

/** Milliseconds, for one check. */
const CHECK_MS = 1_800_000;
/** Minutes without a change in Git, in which nothing may be written. */
const IDLE_MINUTES = Number(process.env['GITOPS_IDLE_MINUTES'] ?? 10);
const INSTANCE = 'boxwright/instance.yaml';
const LEASE = 'boxwright/instance-lease.yaml';
const APPLICATION = 'deploy/argocd/applications/shop.yaml';

describe.skipIf(!HAS_GO || !HAS_REDIS)('the samples under the real Argo CD', { timeout: CHECK_MS }, () => {
  const table = new Table('Argo CD');
  let stage: Stage;
  let url: string;
  let files: Record<string, string>;
  beforeAll(async () => {
    stage = await Stage.start();
    const started = await startArgoCd(stage);
    ({ url } = started);
    table.with(...started.versions);
    files = sampleFiles(stage);
  }, GO_BUILD_TIMEOUT);
  afterAll(() => stage?.[Symbol.asyncDispose](), 120_000);

  interface State {
    sync?: { status: string; revision?: string };
    health?: { status: string };
    resources?: { kind: string; name: string; status?: string; health?: { status: string } }[];
  }
  const state = async (name: string): Promise<State> =>
    (await stage.get('applications.argoproj.io', name, ARGOCD)).status as State;
  const isSettled = async (name: string, commit?: string): Promise<boolean> => {
    const { sync, health } = await state(name);
    return (
      sync?.status === 'Synced' &&
      health?.status === 'Healthy' &&
      (commit === undefined || sync.revision === commit)
    );
  };
  const refresh = (name: string): Promise<string> =>
    stage.kubectl(
      'annotate',
      '--overwrite',
      '-n',
      ARGOCD,
      `application/${name}`,
      'argocd.argoproj.io/refresh=normal',
    );
  const expectSoon = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    try {
      await stage.until(what, look);
    } catch (error) {
      const apps = await stage.kubectl('get', 'applications', '-n', ARGOCD, '-o', 'yaml');
      const ours = await stage.kubectl('get', 'boxwright,pods', '-A', '-o', 'wide');
      throw new Error(`${what}\n${apps.slice(-6_000)}\n${ours}`, { cause: error });
    }
  };
  const push = async (changes: Record<string, string | null>, ...apps: string[]): Promise<string> => {
    const commit = await stage.git.commit(changes);
    for (const app of apps.length > 0 ? apps : ['shop']) await refresh(app);
    return commit;
  };
  const instance = (change: object): string => {
    const { spec, ...rest } = parse(files[INSTANCE] ?? '') as Live;
    return stringify({ ...rest, spec: { ...spec, ...change } });
  };
  const idle = async (minutes: number): Promise<void> => {
    const versions = async (): Promise<string[]> =>
      (await stage.ours()).map(
        ({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`,
      );
    const [before, seen] = [await versions(), stage.cluster.auditLog().length];
    for (let minute = 0; minute < minutes; minute++) {
      await systemClock.sleep(60_000);
      await refresh('shop');
      await expectSoon(
        'it has been looked at',
        async () =>
          !(
            'argocd.argoproj.io/refresh' in
            ((await stage.get('applications.argoproj.io', 'shop', ARGOCD)).metadata.annotations ?? {})
          ),
      );
      expect((await state('shop')).sync?.status).toBe('Synced');
    }
    expect(stage.writesSince(seen)).toEqual([]);
    expect(await versions()).toEqual(before);
    table.note(`${minutes} min: 0 writes, ${before.length} resourceVersions as they were`);
  };

  it('everything from zero by the sample, as an app of apps: Synced and Healthy', async () => {
    await stage.git.commit(files);
    await stage.cluster.apply(stringify(above(stage)));
    for (const name of ['boxwright', 'shop', 'all'])
      await expectSoon(`${name} is Synced and Healthy`, () => isSettled(name));
    expect((await stage.get('instance', 'web-eu')).status?.phase).toBe('Online');
    expect(stage.service.admin.records('instances')).toHaveLength(1);
  });

  // G1
  it('the sample stays Synced while idle: server-side apply, structured-merge diff', async () => {
    await idle(IDLE_MINUTES);
    expect(await isSettled('shop')).toBe(true);
  });

  for (const [tag, name, options, annotations] of [
    ['csa', 'client-side apply, three-way diff', ['SkipDryRunOnMissingResource=true'], {}],
    [
      'csa-ssd',
      'client-side apply, server-side diff',
      ['SkipDryRunOnMissingResource=true'],
      { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' },
    ],
    [
      'ssa-ssd',
      'server-side apply, server-side diff',
      ['SkipDryRunOnMissingResource=true', 'ServerSideApply=true'],
      { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' },
    ],
  ] as const) {
    it(`a change is Synced and stays so: ${name}`, async () => {
      const { spec = {}, metadata, ...rest } = parse(files[APPLICATION] ?? '') as Live;
      const syncPolicy = { ...(spec['syncPolicy'] as object), syncOptions: options };
      const changed = { ...rest, metadata: { ...metadata, annotations }, spec: { ...spec, syncPolicy } };
      await push(
        {
          [APPLICATION]: stringify(changed),
          [INSTANCE]: instance({ tags: ['shop', tag] }),
        },
        'all',
      );
      await expectSoon('the Application has the options', async () => {
        const live = await stage.get('applications.argoproj.io', 'shop', ARGOCD);
        return (
          JSON.stringify(
            (live.spec?.['syncPolicy'] as { syncOptions?: unknown } | undefined)?.syncOptions,
          ) === JSON.stringify(options)
        );
      });
      await refresh('shop');
      await expectSoon('the change has come', async () => (await tags())[1] === tag);
      await expectSoon('shop is Synced and Healthy', () => isSettled('shop'));
      await idle(Math.min(IDLE_MINUTES, 2));
      expect(await isSettled('shop')).toBe(true);
    });
  }

  it('self-heal puts drift back', async () => {
    const drift = '{"spec":{"applyChanges":"Reinstall"}}';
    await stage.kubectl('patch', '-n', SHOP, 'instance/web-eu', '--type=merge', '-p', drift);
    await expectSoon('the field is as in Git', async () => (await applyChanges()) === 'Reconfigure');
    await expectSoon('shop is Synced and Healthy', () => isSettled('shop'));
    expect(await applyChanges()).toBe('Reconfigure');
  });

  it('actions by the API of the server', async () => {
    const query = new URLSearchParams({
      namespace: SHOP,
      resourceName: 'web-eu',
      version: 'v1alpha1',
      group: 'boxwright.dev',
      kind: 'Instance',
    });
    const listed = await fetch(`${url}/api/v1/applications/shop/resource/actions?${query.toString()}`);
    const { actions = [] } = (await listed.json()) as { actions?: { name: string; disabled?: boolean }[] };
    expect(actions.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['reconcile', 'pause', 'reinstall', 'stop']),
    );
    const before = (await stage.get('instance', 'web-eu')).status?.['lastHandledRequest'];
    const ran = await fetch(`${url}/api/v1/applications/shop/resource/actions?${query.toString()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify('reconcile'),
    });
    expect(ran.status).toBe(200);
    await expectSoon('it was looked at', async () => {
      const now = (await stage.get('instance', 'web-eu')).status?.['lastHandledRequest'];
      return now !== undefined && now !== before;
    });
    table.note(`${actions.length} actions listed, reconcile run`);
  });

  it('what is Stalled is Degraded, and the mend is Healthy', async () => {
    await push({ 'boxwright/lost.yaml': stringify(LOST) });
    await expectSoon('shop is Degraded', async () => (await state('shop')).health?.status === 'Degraded');
    await push({ 'boxwright/lost.yaml': null });
    await expectSoon('it is gone', async () =>
      (await stage.ours()).every(({ metadata }) => metadata.name !== 'lost'),
    );
    await expectSoon('shop is Synced and Healthy', () => isSettled('shop'));
    expect((await stage.ours()).map(({ metadata }) => metadata.name)).not.toContain('lost');
  });

  // G5
  it('the order of waves in the guide ends: Secret, Connection, definitions, lease with its instance', async () => {
    const waves: Record<string, string> = {
      'connection.yaml': '0',
      'web-box.yaml': '1',
      'runtime-box.yaml': '1',
      'policy-box.yaml': '1',
      'instance-lease.yaml': '2',
      'instance.yaml': '2',
    };
    const inWaves = Object.entries(waves).map(([name, wave]): [string, string] => {
      const path = `boxwright/${name}`;
      const objects = (files[path] ?? '').split(/^---\n/m).map((text) => parse(text) as Live);
      const text = objects.map(({ metadata, ...rest }) =>
        stringify({
          ...rest,
          metadata: {
            ...metadata,
            annotations: {
              ...metadata.annotations,
              'argocd.argoproj.io/sync-wave': rest.kind === 'Secret' ? '-1' : wave,
            },
          },
        }),
      );
      return [path, text.join('---\n')];
    });
    const later = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'later', annotations: { 'argocd.argoproj.io/sync-wave': '3' } },
    };
    await push({ ...Object.fromEntries(inWaves), [INSTANCE]: null, [LEASE]: null });
    await expectSoon('the instance is gone', async () =>
      (await stage.ours()).every(({ kind }) => kind !== 'Instance'),
    );
    await push({ ...Object.fromEntries(inWaves), 'boxwright/later.yaml': stringify(later) });
    let early = false;
    await expectSoon('the last wave has come', async () => {
      const { stdout } = await stage.cluster.kubectl(['get', 'configmap', 'later', '-n', SHOP, '-o', 'name']);
      if (stdout === '') return false;
      early = !has(await stage.get('instance', 'web-eu'), 'Ready', 'True');
      return true;
    });
    expect(early).toBe(false);
    await expectSoon('shop is Synced and Healthy', () => isSettled('shop'));
  });

  // G2
  it('the Application deleted with its login, with a restart of the operator meanwhile', async () => {
    await push({ [APPLICATION]: null }, 'all');
    await expectSoon('resources are being deleted', async () =>
      (await stage.ours()).some(({ metadata }) => 'deletionTimestamp' in metadata),
    );
    await stage.kubectl(
      'delete',
      'pods',
      '-n',
      'boxwright-system',
      '--all',
      '--grace-period=0',
      '--wait=false',
    );
    await expectSoon('all resources are gone', async () => (await stage.ours()).length === 0);
    for (const kind of ['instances', 'boxes'] as const) expect(stage.service.admin.records(kind)).toEqual([]);
    await expectSoon(
      'the Application is gone',
      async () => !(await stage.kubectl('get', 'applications', '-n', ARGOCD, '-o', 'name')).includes('/shop'),
    );
  });

  async function tags(): Promise<string[]> {
    return ((await stage.get('instance', 'web-eu')).spec?.['tags'] ?? []) as string[];
  }
  async function applyChanges(): Promise<unknown> {
    return (await stage.get('instance', 'web-eu')).spec?.['applyChanges'];
  }
});
