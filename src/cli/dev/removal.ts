import { GROUP } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import { NAMESPACES, type KubeClient } from '../../kube/index.ts';
import type { Applied } from './apply.ts';

/** What a run put into a cluster that goes on after it. */
export interface Traces {
  applied: readonly Applied[];
  /** Namespaces that it made. */
  namespaces: readonly string[];
  /** CRDs that it made. */
  kinds: readonly string[];
}

const LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 250;

/**
 * Deletes what was applied while the operator still works, so that the records on the service go too, and
 * waits for it. Answers what did not go in time, as `kind/name`.
 */
export async function remove(
  kube: KubeClient,
  { applied }: Traces,
  { clock, namespace }: { clock: Clock; namespace: string },
): Promise<string[]> {
  const mine = applied.filter(({ existed }) => !existed);
  const ours = mine.filter(({ type }) => type.group === GROUP);
  const others = mine.filter(({ type }) => type.group !== GROUP);
  for (const { type, ref } of ours) await kube.delete(type, ref);
  const deadline = clock.monotonic() + LIMIT_MS;
  let left = ours;
  while (left.length > 0 && clock.monotonic() < deadline) {
    await clock.sleep(LOOK_EVERY_MS);
    left = await stillThere(kube, left);
  }
  if (left.length === 0) for (const { type, ref } of others) await kube.delete(type, ref);
  return left.map(
    ({ type, ref }) => `${type.kind.toLowerCase()}/${ref.name} in ${ref.namespace ?? namespace}`,
  );
}

/** Deletes the demo's namespace, if the run made it and everything in it is gone. */
export async function removeNamespace(kube: KubeClient, name: string): Promise<void> {
  await kube.delete(NAMESPACES, { name });
}

/** What stays, and the commands that take it away. */
export function leftovers(
  { namespaces, kinds }: Traces,
  stuck: readonly string[],
  kubectl: string,
): string[] {
  const lines: string[] = [];
  const commands: string[] = [];
  if (stuck.length > 0) lines.push(`not deleted yet: ${stuck.join(', ')} (start again, then end it with ^C)`);
  if (namespaces.length > 0) {
    lines.push(`namespaces: ${namespaces.join(', ')}`);
    commands.push(`${kubectl} delete namespace ${namespaces.join(' ')}`);
  }
  if (kinds.length > 0) {
    lines.push(`kinds: ${kinds.join(', ')}`);
    commands.push(`${kubectl} delete crd ${kinds.join(' ')}`);
  }
  if (lines.length === 0) return [];
  return [
    'Left in the cluster:',
    ...lines.map((line) => `  ${line}`),
    'To remove it:',
    ...commands.map((line) => `  ${line}`),
  ];
}

async function stillThere(kube: KubeClient, applied: readonly Applied[]): Promise<Applied[]> {
  const found = await Promise.all(
    applied.map(({ type, ref }) => kube.get(type, ref, { metadataOnly: true })),
  );
  return applied.filter((_, index) => found[index] !== undefined);
}
