import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from '../api/install.ts';
import { CHART, objectsOf, type Rendered } from '../chart/chart.ts';
import type { TestCluster } from '../support/cluster.ts';

/** A Kustomization or a HelmRelease of Flux, or an Application of Argo CD, as far as the samples use them. */
export interface Sample extends Rendered {
  spec: {
    path?: string;
    dependsOn?: { name: string }[];
    targetNamespace?: string;
    deletionPolicy?: string;
    /** Of a HelmRelease. */
    values?: object;
    /** Of an Application. */
    source?: { chart?: string; helm?: { valuesObject: object } };
    destination?: { namespace: string };
    syncPolicy?: { syncOptions: string[] };
  };
}

/** Milliseconds. For a program on a machine that has other things to do. */
export const PATIENCE_MS = 180_000;

/** What a folder of the project builds to. */
export async function build(cluster: TestCluster, folder: string): Promise<Sample[]> {
  const built = await cluster.kubectl(['kustomize', join(ROOT, folder)], { timeoutMs: PATIENCE_MS });
  if (built.code !== 0) throw new Error(built.stderr);
  return objectsOf(built.stdout) as Sample[];
}

/** The objects in a folder's files. */
export function read(folder: string, change: (text: string) => string = (text) => text): Sample[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => objectsOf(change(readFileSync(join(ROOT, folder, name), 'utf8'))) as Sample[]);
}

/** Kustomizations as Flux gets to them: each when those that it depends on are ready, the last named first. */
export function inOrder(kustomizations: readonly Sample[]): Sample[] {
  const done: Sample[] = [];
  const left = [...kustomizations];
  while (left.length > 0) {
    const at = left.findLastIndex(({ spec }) =>
      (spec.dependsOn ?? []).every(({ name }) => done.some(({ metadata }) => metadata.name === name)),
    );
    if (at === -1) throw new Error(`${left.map(({ metadata }) => metadata.name).join(', ')} never start`);
    done.push(...left.splice(at, 1));
  }
  return done;
}

/** The wave of a sync that Argo CD puts an object in. */
export function waveOf({ metadata }: Rendered): number {
  return Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
}

/** Applies on the server side, as Argo CD does when told to. @throws Error with kubectl's words */
export async function applyAll(
  cluster: TestCluster,
  objects: readonly Rendered[],
  namespace?: string,
): Promise<void> {
  const where = namespace === undefined ? [] : ['--namespace', namespace];
  const input = objects.map((object) => stringify(object)).join('---\n');
  const applied = await cluster.kubectl(['apply', '--server-side', ...where, '--filename', '-'], {
    input,
    timeoutMs: PATIENCE_MS,
  });
  if (applied.code !== 0) throw new Error(applied.stderr);
}

/** The chart of this project as a tool that renders it would apply it. */
export async function renderChart(
  cluster: TestCluster,
  name: string,
  namespace: string,
  values: object = {},
): Promise<Rendered[]> {
  const args = ['template', name, CHART, '--namespace', namespace, '--skip-tests', '--values', '-'];
  const { code, stdout, stderr } = await cluster.helm(args, {
    input: JSON.stringify(values),
    timeoutMs: PATIENCE_MS,
  });
  if (code !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}
