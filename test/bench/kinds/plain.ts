import type { KubeObject, ResourceType } from '../../../src/kube/index.ts';
import type { RecordedWrite } from './recording.ts';

/** The least that a kind can be: one field in spec, one in status. What it costs, every kind costs. */
export const PLAIN: ResourceType = {
  group: 'bench.boxwright.dev',
  version: 'v1',
  plural: 'plains',
  kind: 'Plain',
  namespaced: true,
};

const part = { type: 'object', properties: { value: { type: 'string' } } };

export const PLAIN_DEFINITION: KubeObject & Record<string, unknown> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${PLAIN.plural}.${PLAIN.group}` },
  spec: {
    group: PLAIN.group,
    scope: 'Namespaced',
    names: { kind: PLAIN.kind, plural: PLAIN.plural },
    versions: [
      {
        name: PLAIN.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: part, status: part } } },
      },
    ],
  },
};

/** The writes of a kind as that kind would get them: the same to metadata, one field to status. */
export function plainly(writes: readonly RecordedWrite[]): RecordedWrite[] {
  return writes.map(({ subresource, patch }, index) => ({
    subresource,
    patch: subresource === 'status' ? { status: { value: `write ${index}` } } : patch,
  }));
}
