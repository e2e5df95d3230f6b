import { flat, type Tree } from './forest.ts';

/** What programs read: resources in the order of the tree, each with what it belongs to. */
export function statusObject(trees: readonly Tree[]): object {
  const present = flat(trees).filter(({ entry }) => entry !== undefined);
  return {
    apiVersion: 'cli.boxwright.dev/v1alpha1',
    kind: 'Status',
    total: present.length,
    ready: present.filter(({ entry }) => entry?.ready === 'True').length,
    stalled: present.filter(({ entry }) => entry?.isStalled === true).length,
    resources: present.map(({ entry, parent, ...place }) => ({
      kind: place.kind,
      namespace: place.namespace,
      name: place.name,
      ...(parent === undefined ? {} : { parent }),
      ready: entry?.ready,
      reason: entry?.reason,
      message: entry?.message,
      since: entry?.since ?? null,
      stalled: entry?.isStalled,
      deletingSince: entry?.deletingSince ?? null,
      operation: entry?.operation ?? null,
      notes: entry?.notes.map(({ type, reason, message, since }) => ({ type, reason, message, since })),
      columns: entry?.details,
      nextStep: entry?.nextStep ?? null,
    })),
  };
}

/** Whether everything is as declared. */
export function isWell(trees: readonly Tree[]): boolean {
  return flat(trees).every(({ entry }) => entry?.ready === 'True');
}
