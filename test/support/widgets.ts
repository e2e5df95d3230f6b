import type { KubeObject, ResourceType } from '../../src/kube/object.ts';

/** A kind of no meaning, for tests of the runtime. */
export const WIDGETS: ResourceType = {
  group: 'test.example',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

export interface Widget extends KubeObject {
  spec?: { colour?: string; size?: number } | undefined;
  status?: { seen?: number } | undefined;
}

/** A stored widget. The uid defaults to one per name. */
export function widget(
  name: string,
  resourceVersion: string,
  more: Partial<Widget['metadata']> & { colour?: string } = {},
): Widget {
  const { colour, ...metadata } = more;
  return {
    apiVersion: 'test.example/v1',
    kind: 'Widget',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion, ...metadata },
    spec: { colour: colour ?? 'red' },
  };
}

/** The kind for the real API server. */
export const WIDGET_CRD = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.example' },
  spec: {
    group: 'test.example',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
