import type { KindName } from '../../../src/api/kinds.ts';
import { kindOf } from '../../../src/api/kinds.ts';
import type { KubeObject, KubePort, KubeRequest } from '../../../src/kube/index.ts';
import { BOXES, instance, leaseOf, Shop } from '../../scenarios/shop.ts';
import { CONNECTION } from '../../support/world.ts';
import { parseAllDocuments } from 'yaml';

/** One write of the operator to one object. */
export interface RecordedWrite {
  subresource: 'status' | undefined;
  patch: object;
}

/** What a person applies of a kind, and all that the operator writes to it from there until it is settled. */
export interface Recording {
  kind: KindName;
  manifest: KubeObject;
  writes: readonly RecordedWrite[];
}

const LEASE = leaseOf('evening', 'after: 8h');
/** Long enough for whatever is written some time after Ready. */
const SETTLED_MS = 15 * 60_000;

/** Lets the operator make one resource of each kind in process, on the virtual clock, and notes its writes. */
export async function recordKinds(): Promise<Recording[]> {
  const written = new Map<string, RecordedWrite[]>();
  const note = (request: KubeRequest): void => {
    const match = /\/boxwright\.dev\/v1alpha1\/namespaces\/[^/]+\/([^/]+)\/([^/]+)(\/status)?$/.exec(
      request.path,
    );
    if (match === null || request.method !== 'PATCH') return;
    const [, plural = '', name = '', status] = match;
    const key = `${plural}/${name}`;
    const write: RecordedWrite = {
      subresource: status === undefined ? undefined : 'status',
      patch: withoutVersion(request.body as { metadata?: object }),
    };
    written.set(key, [...(written.get(key) ?? []), write]);
  };
  const shop = await Shop.open({
    kubePort: (port: KubePort): KubePort => ({
      ...port,
      watch: (request) => port.watch(request),
      request: (request) => {
        note(request);
        return port.request(request);
      },
    }),
  });
  // The lease is for another one: the plain creation is what is measured.
  const lease = LEASE.replaceAll('web-eu', 'leased');
  const person = [CONNECTION, BOXES, instance(), lease].join('\n---\n');
  await shop.world.apply(lease);
  await shop.world.apply(instance('', 'leased'));
  await shop.world.apply(instance());
  await shop.online();
  await shop.world.advance(SETTLED_MS);
  await shop.close();
  return parseAllDocuments(person)
    .map((document) => document.toJS() as KubeObject & { kind: KindName; apiVersion: string })
    .filter(({ apiVersion }) => apiVersion.startsWith('boxwright.dev/'))
    .map((manifest) => {
      const key = `${kindOf(manifest.kind).plural}/${manifest.metadata.name}`;
      return { kind: manifest.kind, manifest, writes: written.get(key) ?? [] };
    });
}

/** The object that it is replayed to has another version. */
function withoutVersion(body: { metadata?: object }): object {
  const { metadata, ...rest } = body;
  if (metadata === undefined) return rest;
  const { resourceVersion: _, uid: __, ...kept } = metadata as Record<string, unknown>;
  return Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept };
}
