import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { ROOT } from '../api/install.ts';
import { podSpecOf, type Rendered } from '../chart/chart.ts';
import { eventually } from '../support/eventually.ts';
import { startOperator, type RunningOperator } from '../support/operator.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { BOX_AND_POLICY, instance } from '../support/real-world.ts';
import type { Shown } from '../support/world.ts';
import { blocksOf, shell } from './guide.ts';

const RESTORE = 'docs/guides/restore.md';
const HOME = 'boxwright-system';
const SHOP = 'shop';
const KINDS = ['instances.boxwright.dev', 'policyboxes.boxwright.dev', 'boxes.boxwright.dev'] as const;
const TOKEN = 'token-of-the-tests';
/** Commands after which the pods of the operator are others. */
const RESTARTS = /^(helm upgrade|kubectl set env|kubectl rollout restart|kubectl scale)/;

type Stored = Shown & { kind: string; data?: Record<string, string> };
/** What a backup holds. */
interface Backup {
  installation: Stored;
  key: Stored;
  resources: Stored[];
}

let own: OwnCluster;
let checkout: string;
let type: ReturnType<typeof shell>;
let sandbox: Sandbox;
let operator: RunningOperator | undefined;

beforeAll(async () => {
  own = await ownCluster();
  checkout = mkdtempSync(join(tmpdir(), 'boxwright-checkout-'));
  for (const folder of ['crds', 'helm'])
    cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
  type = shell(own.cluster, checkout);
  sandbox = createSandbox({
    account: { email: 'ops@example.com', password: 'password-of-the-tests', token: TOKEN },
    durations: { deploy: 200, shutdown: 100, terminate: 100 },
  });
  const { url } = await sandbox.start();
  await type(`
kubectl create namespace ${SHOP}
kubectl create namespace ${HOME}
kubectl config set-context --current --namespace ${SHOP}
helm install boxwright helm/boxwright --namespace ${HOME} --set 'namespaces={${SHOP}}'
`);
  await startPods();
  await own.cluster.apply(
    `
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {token: ${TOKEN}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: main}
spec:
  endpoint: ${url}
  credentialsRef: {name: deploy-login}
  poll: {processing: 200ms, settled: 2s, lagWindow: 1s}
---${BOX_AND_POLICY}---${instance('web')}`,
    SHOP,
  );
  await allReady();
}, 600_000);
afterAll(async () => {
  await stopPods();
  await sandbox.stop();
  await own[Symbol.asyncDispose]();
  rmSync(checkout, { recursive: true, force: true });
});

/** Nobody here runs pods: in their place an operator with the settings and the name of the Deployment's. */
async function startPods(): Promise<void> {
  await stopPods();
  const deployment = await own.cluster.get<Rendered>('deployment', 'boxwright', '--namespace', HOME);
  const { env = [] } = podSpecOf(deployment).containers[0] ?? {};
  const settings = new Map(env.map(({ name, value }) => [name, value]));
  const installationId = settings.get('BOXWRIGHT_INSTALLATION_ID');
  operator = startOperator({
    kubeconfig: own.cluster.kubeconfigFor(`system:serviceaccount:${HOME}:boxwright`, [
      'system:serviceaccounts',
      `system:serviceaccounts:${HOME}`,
    ]),
    home: HOME,
    namespaces: [SHOP],
    restore: settings.get('BOXWRIGHT_RESTORE') === 'true',
    ...(installationId === undefined ? {} : { installationId }),
  });
}

async function stopPods(): Promise<void> {
  await operator?.stop();
  operator = undefined;
}

/** Types the commands of a section, one after the other, with the pods that follow from each. */
async function follow(heading: `## ${string}`, given: Readonly<Record<string, string>> = {}): Promise<void> {
  const [block = ''] = blocksOf(RESTORE, heading);
  const commands = block
    .replaceAll('oci://ghcr.io/boxwright/charts/boxwright', 'helm/boxwright')
    .replaceAll(/\\\n/g, ' ')
    .trim()
    .split('\n');
  const variables = Object.entries(given).map(([name, value]) => `${name}='${value}'`);
  for (const command of commands) {
    if (/^[A-Z_]+=/.test(command)) {
      variables.push(command);
      continue;
    }
    await type([...variables, command].join('\n'));
    if (RESTARTS.test(command)) await startPods();
  }
}

async function resources(): Promise<Stored[]> {
  const { items } = await own.cluster.get<{ items: Stored[] }>(KINDS.join(','), '--namespace', SHOP);
  return items;
}

async function allReady(): Promise<void> {
  await until('everything is Ready', ({ status, metadata }) =>
    (status?.conditions ?? []).some(
      (one) =>
        one.type === 'Ready' && one.status === 'True' && one.observedGeneration === metadata.generation,
    ),
  );
}

/** Waits until all resources say so. */
async function until(what: string, isSo: (resource: Stored) => boolean): Promise<void> {
  let last: Stored[] = [];
  const look = async (): Promise<boolean> => {
    last = await resources();
    return last.length > 0 && last.every(isSo);
  };
  await eventually(what, look, { timeoutMs: 180_000, everyMs: 500 }).catch((error: unknown) => {
    const said = last.map(({ kind, status }) => `${kind}: ${JSON.stringify(status?.conditions)}`);
    throw new Error(`${String(error)}\n${said.join('\n')}`);
  });
}

function inConflict({ status }: Stored): boolean {
  return (status?.conditions ?? []).some(
    ({ type: name, reason }) => name === 'Ready' && reason === 'Conflict',
  );
}

async function backUp(): Promise<Backup> {
  return {
    installation: await own.cluster.get<Stored>('configmap', 'boxwright-installation', '--namespace', HOME),
    key: await own.cluster.get<Stored>('secret', 'boxwright-digest-key', '--namespace', HOME),
    resources: await resources(),
  };
}

/** What a backup tool does, without status. */
async function bringBack(objects: readonly Stored[]): Promise<void> {
  for (const { kind, metadata } of objects) {
    const { name, namespace = '' } = metadata as Stored['metadata'] & { namespace?: string };
    const what = [`${kind}/${name}`, '--namespace', namespace];
    await own.cluster.kubectl(['patch', ...what, '--type=merge', '--patch={"metadata":{"finalizers":null}}']);
    await own.cluster.kubectl(['delete', ...what, '--ignore-not-found']);
  }
  const bare = objects.map(({ status: _status, metadata, ...rest }) => {
    const { uid: _uid, resourceVersion: _version, generation: _generation, ...kept } = metadata;
    return { ...rest, metadata: { ...kept, creationTimestamp: undefined, managedFields: undefined } };
  });
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: bare });
  const { code, stderr } = await own.cluster.kubectl(['create', '-f', '-'], { input });
  if (code !== 0) throw new Error(stderr);
}

function unsealed(resource: Stored): Stored {
  const { [ANNOTATIONS.claimSeal]: _seal, ...annotations } = resource.metadata.annotations ?? {};
  return { ...resource, metadata: { ...resource.metadata, annotations } };
}

function sealedByAKeyThatIsGone(resource: Stored): Stored {
  const { annotations = {} } = resource.metadata;
  const seal = `aaaaaaaa${(annotations[ANNOTATIONS.claimSeal] ?? '').slice(8)}`;
  return {
    ...resource,
    metadata: { ...resource.metadata, annotations: { ...annotations, [ANNOTATIONS.claimSeal]: seal } },
  };
}

/** Records of the service, by what they are to be told from others. */
function records(): string[] {
  return recordsOf('boxes', 'instances')
    .map(({ id, name }) => `${String(id)} ${String(name)}`)
    .toSorted();
}

function recordsOf(...families: ('boxes' | 'instances')[]): Record<string, unknown>[] {
  return families.flatMap(
    (family) => sandbox.admin.records(family) as readonly object[] as Record<string, unknown>[],
  );
}

/** What was made or taken away since. */
function lifeOrDeath(since: number): string[] {
  return sandbox.admin
    .calls({ since })
    .filter(
      ({ method, path }) => method === 'DELETE' || (method === 'POST' && /(boxes|instances)$/.test(path)),
    )
    .map(({ method, path }) => `${method} ${path}`);
}

const now = (): number => sandbox.admin.calls().at(-1)?.seq ?? 0;

describe('the commands for restores, moves and keys', { timeout: 900_000 }, () => {
  it('confirm a restored installation, and all is as it was', async () => {
    const [before, mark] = [records(), now()];
    const { installation, key, resources: all } = await backUp();
    await stopPods();
    await bringBack([installation, key, ...all]);
    await startPods();
    await until('nothing is written', inConflict);
    await follow('## Restore in the same cluster');
    await allReady();
    expect(records()).toEqual(before);
    expect(lifeOrDeath(mark)).toEqual([]);
    await own.cluster.kubectl([
      'patch',
      'box/plain',
      '--type=merge',
      '--patch={"spec":{"description":"again"}}',
    ]);
    await allReady();
    const descriptions = recordsOf('boxes').map((record) => record['description']);
    expect(descriptions).toContain('again');
  });

  it('let claims count that were never sealed', async () => {
    const [before, mark] = [records(), now()];
    const { resources: all } = await backUp();
    await stopPods();
    await bringBack(all.map(unsealed));
    await startPods();
    // The record of an instance carries its marker.
    await until('boxes are not taken up', (resource) => resource.kind === 'Instance' || inConflict(resource));
    await follow('## Claims that cannot be read');
    await allReady();
    expect(records()).toEqual(before);
    expect(lifeOrDeath(mark)).toEqual([]);
  });

  it('go on with another key, and bring the lost one back for what it has sealed', async () => {
    const [before, mark] = [records(), now()];
    const { key, resources: all } = await backUp();
    await stopPods();
    await own.cluster.kubectl(['delete', 'secret', 'boxwright-digest-key', '--namespace', HOME]);
    await startPods();
    await until('nothing is written', inConflict);
    // Confirmed as after a restore.
    await follow('## Restore in the same cluster');
    await allReady();
    await until('all is sealed anew', ({ metadata }) => sealOf(metadata) !== sealIn(all, metadata.name));

    await stopPods();
    await bringBack(all);
    await startPods();
    await until('boxes are not taken up', (resource) => resource.kind === 'Instance' || inConflict(resource));
    await follow('## Lost key', { OLD_KEY_IN_BASE64: key.data?.['key'] ?? '' });
    await allReady();
    expect(records()).toEqual(before);
    expect(lifeOrDeath(mark)).toEqual([]);
  });

  it('rotate the key', async () => {
    const [before, mark] = [records(), now()];
    const all = await resources();
    await follow('## Rotate the key');
    await until('all is sealed anew', ({ metadata }) => sealOf(metadata) !== sealIn(all, metadata.name));
    await allReady();
    expect(records()).toEqual(before);
    expect(lifeOrDeath(mark)).toEqual([]);
  });

  it('let go of what cannot be settled', async () => {
    await type('kubectl delete instances --all');
    const [before, mark] = [records(), now()];
    const all = await resources();
    await stopPods();
    await bringBack(all.map(sealedByAKeyThatIsGone));
    await startPods();
    await until('nothing is taken up', inConflict);
    await type(`kubectl delete ${KINDS.join(',')} --all --wait=false`);
    await until('it is held', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await follow('## Let go of what cannot be settled');
    await eventually('all is gone', async () => (await resources()).length === 0, { timeoutMs: 180_000 });
    expect(records()).toEqual(before);
    expect(lifeOrDeath(mark)).toEqual([]);
  });
});

/** The id of the key that a claim is sealed with. */
function sealOf({ annotations }: Shown['metadata']): string | undefined {
  return annotations?.[ANNOTATIONS.claimSeal]?.split('/')[0];
}

function sealIn(all: readonly Stored[], name: string): string | undefined {
  const found = all.find(({ metadata }) => metadata.name === name);
  return found === undefined ? undefined : sealOf(found.metadata);
}
