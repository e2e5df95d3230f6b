import { describe, expect, it } from 'vitest';
import type { KubeClient, ResourceType } from '../../kube/index.ts';
import { MetadataNotKeptError, patchMetadata, type OwnMetadata } from './metadata.ts';

const FINALIZER = 'boxwright.dev/finalizer';
const TYPE: ResourceType = { group: 'g', version: 'v', plural: 'boxes', kind: 'Box', namespaced: true };

/** Patches an object of a cluster that stores `stored`, whatever is written. */
async function patch(written: OwnMetadata, stored: OwnMetadata): Promise<object[]> {
  const remembered: object[] = [];
  const raw = { metadata: { name: 'web', ...stored } };
  const kube = { mergePatch: () => Promise.resolve(raw) } as unknown as KubeClient;
  const metadata = {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const signal = new AbortController().signal;
  await patchMetadata(kube, TYPE, { metadata }, written, { signal, remember: (one) => remembered.push(one) });
  return remembered;
}

describe('a patch of metadata', () => {
  it('is fine where all of it is kept, whatever else is there', async () => {
    const stored = { annotations: { a: '1', other: 'x' }, finalizers: [FINALIZER] };
    expect(await patch({ annotations: { a: '1', b: null }, finalizers: [FINALIZER] }, stored)).toHaveLength(
      1,
    );
    expect(await patch({ annotations: { a: null } }, {})).toHaveLength(1);
    expect(await patch({ finalizers: [FINALIZER] }, { finalizers: [FINALIZER, 'other'] })).toHaveLength(1);
    expect(await patch({ finalizers: ['gone'] }, { finalizers: ['other'] })).toHaveLength(1);
  });

  it.each([
    [{ annotations: { a: '1' } }, {}, 'the annotation a'],
    [{ annotations: { a: '1' } }, { annotations: { a: '2' } }, 'the annotation a'],
    [{ annotations: { a: null } }, { annotations: { a: '1' } }, 'the removal of the annotation a'],
    [{ finalizers: [FINALIZER] }, { finalizers: ['other'] }, `the finalizer ${FINALIZER}`],
    [{ finalizers: [] }, { finalizers: [FINALIZER] }, `the removal of the finalizer ${FINALIZER}`],
  ])('of which something is not kept is nothing to rest on (%j, %j)', async (written, stored, what) => {
    await expect(patch(written, stored)).rejects.toThrow(new MetadataNotKeptError(what));
  });
});
