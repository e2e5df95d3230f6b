import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { KINDS, type KindName } from '../../src/api/kinds.ts';
import { pathOf } from '../../src/kube/index.ts';
import { CONNECTION, examples, World, type Shown } from '../support/world.ts';
import { typeOfKind } from '../support/world.ts';

const TRACKING = 'argocd.argoproj.io/tracking-id';
const INSTANCE = 'app.kubernetes.io/instance';
const HOUR = 3_600_000;

interface List {
  items: readonly Shown[];
}

/** The manifests as Argo CD would apply them: with its marks. */
function tracked(manifests: string): string {
  return parseAllDocuments(manifests)
    .flatMap((document) => {
      const object = document.toJS() as { kind: string; metadata: Record<string, object> } | null;
      if (object === null) return [];
      const { metadata } = object;
      const annotations = { ...metadata['annotations'], [TRACKING]: `shop:${object.kind}` };
      const labels = { ...metadata['labels'], [INSTANCE]: 'shop' };
      return [stringify({ ...object, metadata: { ...metadata, annotations, labels } })];
    })
    .join('---\n');
}

// gitops checklist G26, G34, G35 and G39, in virtual time: what the comparison of Argo CD and of Flux looks at.
describe('a day of an application under automatic sync and self-heal', () => {
  const manifests = tracked(`${CONNECTION}\n---\n${examples()}`);
  const world = new World();

  const all = (): Shown[] => KINDS.flatMap(({ kind }) => world.list(kind as KindName));
  const allReady = (): boolean =>
    KINDS.every(({ kind }) =>
      world
        .list(kind as KindName)
        .every(({ metadata }) => world.ready(kind as KindName, metadata.name) === 'True'),
    );
  /** Everything but status and the marks of storage; of the annotations, those that a manifest may have. */
  const compared = (): object[] =>
    all().map(({ metadata, spec }) => ({
      name: metadata.name,
      generation: metadata.generation,
      labels: (metadata as { labels?: object }).labels,
      tracking: metadata.annotations?.[TRACKING],
      spec,
    }));

  beforeAll(async () => {
    world.start();
    await world.apply(manifests);
    await world.until(allReady);
  });

  it('changes nothing of what was applied, although a lease ends and the machine stops', async () => {
    const before = compared();
    await world.advance(24 * HOUR);
    expect(world.get('Instance', 'web-eu')?.status?.['phase']).toBe('ShutDown');
    expect(compared()).toEqual(before);
  });

  it('finds nothing to do when it is applied again', async () => {
    const before = all().map(({ metadata }) => metadata.resourceVersion);
    await world.apply(manifests);
    expect(all().map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
  });

  it('copies its marks to no other object, which Argo CD would prune', () => {
    // In any namespace: the key and what the operator notes stand beside the operator.
    const stored = (['Secret', 'ConfigMap'] as const).flatMap(
      (kind) => (world.kube.handle({ method: 'GET', path: pathOf(typeOfKind(kind)) }).body as List).items,
    );
    const others = stored.filter(({ metadata }) => !manifests.includes(`name: ${metadata.name}\n`));
    expect(others.map(({ metadata }) => metadata.name)).not.toEqual([]);
    expect(JSON.stringify(others)).not.toMatch(/tracking-id|kubernetes\.io\/instance/);
  });
});
