import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { ROOT } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';

interface Sample {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: {
    path?: string;
    dependsOn?: { name: string }[];
    chartRef?: { kind: string; name: string };
    values?: object;
    wait?: boolean;
    healthCheckExprs?: { kind: string }[];
    install?: { crds: string };
    upgrade?: { crds: string };
  };
}

const FLUX = join(ROOT, 'deploy/flux');
let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'boxwright-flux-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

async function build(folder: string): Promise<Sample[]> {
  const built = await testCluster().kubectl(['kustomize', folder]);
  expect(built.stderr).toBe('');
  return parseAllDocuments(built.stdout).map((document) => document.toJS() as Sample);
}

it('has a Kustomization for the operator and one that waits for it and for its resources', async () => {
  const all = await build(join(FLUX, 'cluster'));
  expect(all.map(({ kind }) => kind)).toEqual(['Kustomization', 'Kustomization', 'Kustomization']);
  const names = all.map(({ metadata }) => metadata.name);
  for (const { spec } of all) {
    expect(spec.wait).toBe(true);
    for (const { name } of spec.dependsOn ?? []) expect(names).toContain(name);
  }
  for (const { spec } of all.filter(({ metadata }) => metadata.name !== 'shop')) {
    expect(await build(join(ROOT, spec.path ?? ''))).not.toEqual([]);
  }
});

it('installs the chart with values that the chart takes, and replaces definitions on upgrade', async () => {
  const all = await build(join(FLUX, 'operator'));
  const release = all.find(({ kind }) => kind === 'HelmRelease');
  const { chartRef, values, install, upgrade } = release?.spec ?? {};
  expect(all).toContainEqual(
    expect.objectContaining({
      kind: chartRef?.kind,
      metadata: { name: chartRef?.name, namespace: 'boxwright-system' },
    }),
  );
  expect([install?.crds, upgrade?.crds]).toEqual(['CreateReplace', 'CreateReplace']);
  const file = join(place, 'values.yaml');
  writeFileSync(file, stringify(values));
  const rendered = await testCluster().helm(['template', 'x', join(ROOT, 'helm/boxwright'), '-f', file]);
  expect(rendered.stderr).toBe('');
  expect(rendered.stdout).toContain('kind: Deployment');
});

it('adds expressions for every kind where the component for health checks is taken in', async () => {
  cpSync(FLUX, place, { recursive: true });
  const file = join(place, 'cluster/kustomization.yaml');
  writeFileSync(
    file,
    stringify({
      resources: ['namespaces.yaml', 'boxwright.yaml', 'shop.yaml'],
      components: ['../health-checks'],
    }),
  );
  const all = await build(join(place, 'cluster'));
  const expressions = new Map(
    all.map(({ metadata, spec }) => [metadata.name, spec.healthCheckExprs?.map(({ kind }) => kind)]),
  );
  expect(Object.fromEntries(expressions)).toEqual({
    namespaces: undefined,
    boxwright: undefined,
    shop: KINDS.map(({ kind }) => kind),
  });
});
