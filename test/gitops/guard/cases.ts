import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { KINDS } from '../../../src/api/kinds.ts';
import type { StructuralSchema } from '../../../src/api/schema/structural.ts';
import { installKinds, ROOT } from '../../api/install.ts';
import { objectsOf, type Rendered } from '../../chart/chart.ts';
import { testCluster, type TestCluster } from '../../support/cluster.ts';
import { compare } from './compare.ts';
import { everyOptionalField } from './manifests.ts';

/** Milliseconds. Some thousand requests, on a machine that has other things to do. */
const PATIENCE_MS = 1_200_000;
/** Kinds that the samples have and that stand in a namespace. */
const PLAIN = ['Secret', 'ConfigMap'];

/** What the guard holds: nothing that was applied differs afterwards. */
export function guardCases(): void {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = testCluster();
    await installKinds(cluster);
  });

  it(
    'finds every sample and every kind with each optional field left out as it was applied, in every mode',
    async () => {
      await using place = await cluster.namespace('guard');
      const manifests = [...samples(), ...everyOptionalField()];
      const objects = manifests.map(({ object }) => object);
      const { modes, compared, differences } = await compare(cluster, place.name, objects, PATIENCE_MS);
      process.stderr.write(
        `guard: ${objects.length} objects x ${modes.length} modes: ${compared} compared, ${differences.length} differences\n`,
      );
      expect(compared).toBe(objects.length * modes.length);
      const told = differences.map(({ object, mode, live, predicted }) => ({
        object: manifests[object]?.says,
        mode,
        live,
        predicted,
      }));
      expect(told).toEqual([]);
    },
    PATIENCE_MS,
  );

  // G1
  it(
    'finds a list whose key has a default: the mistake that kept the sample from ever being Synced',
    async () => {
      await using place = await cluster.namespace('mistake');
      const { crd, object } = withDefaultedKey();
      await cluster.apply(stringify(crd));
      try {
        await cluster.kubectl(['wait', '--for=condition=Established', `crd/${crd.metadata.name}`]);
        const { differences } = await compare(cluster, place.name, [object], PATIENCE_MS);
        expect([...new Set(differences.map(({ mode }) => mode))]).toEqual(
          expect.arrayContaining(['server-side apply, structured merge diff']),
        );
      } finally {
        await cluster.kubectl(['delete', 'crd', crd.metadata.name]);
      }
    },
    PATIENCE_MS,
  );
}

/** The samples and examples that people copy, as far as they are ours or plain. */
function samples(): { says: string; object: Rendered }[] {
  const kinds = [...KINDS.map(({ kind }) => kind), ...PLAIN];
  return readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !/^(kustomize|argocd.resource_customizations)/.test(file))
    .flatMap((file) =>
      objectsOf(readFileSync(join(ROOT, 'deploy', file), 'utf8')).map((object) => ({ says: file, object })),
    )
    .filter(({ object }) => kinds.includes(object.kind));
}

interface Crd {
  metadata: { name: string };
  spec: {
    group: string;
    names: { categories?: string[]; shortNames?: string[] };
    versions: { schema: { openAPIV3Schema: StructuralSchema } }[];
  };
}

/** The Box as it was when G1 was found: overrides are keyed by scope and name, and scope need not be written. */
function withDefaultedKey(): { crd: Crd; object: object } {
  const crd = parse(readFileSync(join(ROOT, 'crds/boxes.boxwright.dev.yaml'), 'utf8')) as Crd;
  const group = 'mistake.boxwright.dev';
  crd.metadata.name = `boxes.${group}`;
  crd.spec.group = group;
  crd.spec.names = { ...crd.spec.names, categories: [], shortNames: [] };
  const [version] = crd.spec.versions;
  const item = version?.schema.openAPIV3Schema.properties?.['spec']?.properties?.['overrides']?.items;
  if (item?.properties?.['scope'] === undefined) throw new Error('overrides have no scope any more');
  item.properties['scope'].default = 'web';
  item.required = (item.required ?? []).filter((name) => name !== 'scope');
  const object = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'Box',
    metadata: { name: 'mistake' },
    spec: {
      connectionRef: { name: 'main' },
      overrides: [{ name: 'PORT', type: 'Port', value: '80' }],
    },
  };
  return { crd, object };
}
