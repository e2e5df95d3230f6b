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
