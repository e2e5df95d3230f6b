import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { CHART, podSpecOf, type Rendered } from '../chart/chart.ts';
import { boxwright, type Running } from '../cli/boxwright.ts';
import { buildGoProgram, GO_BUILD_TIMEOUT, HAS_GO, type GoProgram } from '../support/go-program.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { kubeconfigWith } from '../support/rights/identity.ts';
import { applyAll, build, inOrder, PATIENCE_MS, read, renderChart, waveOf, type Sample } from './samples.ts';

const HOME = 'boxwright-system';
const OURS = KINDS.map(({ plural, group }) => `${plural}.${group}`).join(',');

// A new one for each: the API server's deletion of CRDs can hang for minutes.
let own: OwnCluster;
beforeEach(async () => {
  own = await ownCluster();
}, 2 * PATIENCE_MS);
afterEach(() => own[Symbol.asyncDispose]());

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await own.cluster.kubectl(args, { timeoutMs: PATIENCE_MS });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

describe('the samples on a cluster where nothing is yet', { timeout: GO_BUILD_TIMEOUT }, () => {
  // gitops checklist G37: Argo CD's part is what its waves and its options mean.
  it('for Argo CD come up wave by wave, and no namespace is pruned', async () => {
    const samples = read('deploy/argocd/applications').toSorted((one, other) => waveOf(one) - waveOf(other));
    for (const sample of samples) {
      if (sample.kind === 'Application') await sync(sample);
      else await applyAll(own.cluster, [sample]);
    }
    expect(await kubectl('get', 'rolebindings', '-n', 'shop', '-o', 'name')).not.toBe('');
    expect(await kubectl('get', 'instance', 'web-eu', '-n', 'shop', '-o', 'name')).not.toBe('');
    const options = samples
      .filter(({ kind }) => kind === 'Namespace')
      .map(({ metadata }) => [
        metadata.name,
        metadata.annotations?.['argocd.argoproj.io/sync-options']?.split(','),
      ]);
    const stays = ['Prune=false', 'Delete=false'];
    expect(Object.fromEntries(options)).toEqual({ [HOME]: stays, shop: stays });
  });

  describe.skipIf(!HAS_GO)('for Flux, by its own package for server-side apply', () => {
    let flux: GoProgram;
    let service: Sandbox;
    let operator: Running | undefined;
    beforeAll(async () => {
      flux = await buildGoProgram(join(import.meta.dirname, '..', 'flux', 'ssa'));
      service = createSandbox({ durations: { deploy: 400, terminate: 300, shutdown: 200 } });
    }, GO_BUILD_TIMEOUT);
    afterAll(async () => {
      operator?.child.kill('SIGKILL');
      await operator?.ended;
      await service?.stop();
      flux?.[Symbol.dispose]();
    });

    async function ask(what: string, { metadata, spec }: Sample, objects: readonly object[]): Promise<void> {
      const { name } = metadata;
      const timeoutMs = PATIENCE_MS;
      const question = { do: what, name, namespace: spec.targetNamespace ?? '', objects, timeoutMs };
      const env = { KUBECONFIG: own.cluster.kubeconfigPath };
      const answer = await flux.ask<{ error?: string }>(question, { env, timeoutMs: timeoutMs + 60_000 });
      if (answer.error !== undefined) throw new Error(`${what} ${name}: ${answer.error}`);
    }

    // gitops checklist G28.
    it('come up in the order of dependsOn, and end when one commit takes everything away', async () => {
      const { url } = await service.start();
      const objectsIn = async ({ spec }: Sample): Promise<Sample[]> =>
        spec.path === './deploy/examples'
          ? read(spec.path, (text) =>
              text
                .replace('https://deploy.example.com', url)
                .replace('replace-me', service.credentials.token ?? ''),
            )
          : build(own.cluster, spec.path ?? '');
      const steps = inOrder(await build(own.cluster, 'deploy/flux/cluster'));
      expect(steps.map(({ metadata }) => metadata.name)).toEqual(['namespaces', 'boxwright', 'shop']);
      for (const step of steps) {
        const objects = await objectsIn(step);
        const plain = objects.filter(({ apiVersion }) => !apiVersion.includes('.toolkit.fluxcd.io/'));
        if (plain.length > 0) {
          await ask('apply', step, plain);
          await ask('wait', step, plain);
        }
        for (const release of objects.filter(({ kind }) => kind === 'HelmRelease')) {
          await install(release);
          operator = await operatorOf(release);
        }
      }
      expect(service.admin.records('instances')).toHaveLength(1);

      // At once, as Flux does not know an order there.
      await Promise.all(
        steps.map(async (step) => {
          if (step.spec.deletionPolicy === 'Orphan') return;
          const objects = await objectsIn(step);
          for (const release of objects.filter(({ kind }) => kind === 'HelmRelease')) {
            operator?.child.kill('SIGTERM');
            await uninstall(release);
          }
          await ask('prune', step, objects);
        }),
      );
      expect(await kubectl('get', OURS, '--all-namespaces', '-o', 'name')).toBe('');
      expect(service.admin.records('instances')).toEqual([]);
      expect(service.admin.records('boxes')).toEqual([]);
      const phases = ['get', 'namespaces', 'shop', HOME, '-o', 'jsonpath={.items[*].status.phase}'];
      expect(await kubectl(...phases)).toBe('Active Active');

      // What the guide has done by hand at the end.
      operator?.child.kill('SIGTERM');
      await operator?.endsWith(0);
      await uninstall({ metadata: { name: 'boxwright', namespace: HOME } });
      expect(await kubectl('get', 'all,roles,secrets', '-n', HOME, '-o', 'name')).toBe(
        'secret/boxwright-digest-key\nsecret/boxwright-kept-credentials',
      );
      const kept = ['get', 'secret', 'boxwright-kept-credentials', '-n', HOME, '-o', 'jsonpath={.data}'];
      expect(await kubectl(...kept)).toBe('');
    });
  });
});

/** What a sync of an Application applies. */
async function sync({ metadata, spec }: Sample): Promise<void> {
  const { namespace } = spec.destination ?? { namespace: '' };
  if (spec.syncPolicy?.syncOptions.includes('CreateNamespace=true') === true) {
    await applyAll(own.cluster, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  }
  const { chart, helm } = spec.source ?? {};
  if (chart === undefined) await applyAll(own.cluster, read('deploy/examples'), namespace);
  else {
    const rendered = await renderChart(own.cluster, metadata.name, namespace, helm?.valuesObject);
    await applyAll(own.cluster, rendered);
  }
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s');
}

/** As the HelmRelease says, but without waiting for pods, which nobody runs here. */
async function install({ metadata: { name, namespace = '' }, spec }: Sample): Promise<void> {
  const args = ['install', name, CHART, '--namespace', namespace, '--values', '-'];
  const { code, stderr } = await own.cluster.helm(args, {
    input: JSON.stringify(spec.values),
    timeoutMs: PATIENCE_MS,
  });
  if (code !== 0) throw new Error(`helm install: ${stderr}`);
}

async function uninstall({ metadata: { name, namespace = '' } }: Pick<Rendered, 'metadata'>): Promise<void> {
  const { code, stderr } = await own.cluster.helm(['uninstall', name, '--namespace', namespace], {
    timeoutMs: PATIENCE_MS,
  });
  if (code !== 0) throw new Error(`helm uninstall: ${stderr}`);
}

/** In the place of the pod: the program, with its ServiceAccount and its settings. */
async function operatorOf({ metadata: { name, namespace = '' } }: Sample): Promise<Running> {
  const { env, account } = podSettings(
    await own.cluster.get<Rendered>('deployment', name, '--namespace', namespace),
  );
  const token = await kubectl('create', 'token', account, '--namespace', namespace);
  const where = [`--kubeconfig=${kubeconfigWith(own.cluster, namespace, token)}`, `--namespace=${namespace}`];
  const trial = ['--allowed-hosts=127.0.0.1:*', '--allow-insecure', '--allow-loopback'];
  return boxwright(['operator', ...where, ...trial, '--metrics-address=off'], env);
}

function podSettings(deployment: Rendered): { env: Record<string, string>; account: string } {
  const { serviceAccountName, containers } = podSpecOf(deployment);
  const told = (containers[0]?.env ?? []).filter(
    ({ name }) => name.startsWith('BOXWRIGHT_') && !/METRICS|HEALTH|IN_CLUSTER/.test(name),
  );
  return {
    account: serviceAccountName,
    env: Object.fromEntries(told.map(({ name, value = '' }) => [name, value])),
  };
}
