import { CATEGORY } from './names.ts';
import type { KindDefinition } from './schema/kind.ts';
import type { StructuralSchema } from './schema/structural.ts';

/** A CustomResourceDefinition, as far as we fill it. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    scope: 'Namespaced';
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames: string[];
      categories: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      subresources: { status: Record<string, never> };
      additionalPrinterColumns: object[];
      selectableFields: { jsonPath: string }[];
      schema: { openAPIV3Schema: StructuralSchema };
    }[];
  };
}

const API_VERSION_FIELD: StructuralSchema = {
  type: 'string',
  description: 'Version of the schema that this object is written in. Default: none. Cannot be changed.',
};
const KIND_FIELD: StructuralSchema = {
  type: 'string',
  description: 'Kind of the object. Default: none. Cannot be changed.',
};

/** The CRD of a kind. One version, served and stored. */
export function crdOf(definition: KindDefinition): CustomResourceDefinition {
  const shape = definition.structural();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${definition.plural}.${definition.group}` },
    spec: {
      group: definition.group,
      scope: 'Namespaced',
      names: {
        kind: definition.kind,
        listKind: `${definition.kind}List`,
        plural: definition.plural,
        singular: definition.singular,
        shortNames: [...definition.shortNames],
        categories: [CATEGORY],
      },
      versions: [
        {
          name: definition.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: definition.columns.map((column) => ({ ...column })),
          selectableFields: definition.selectableFields.map((jsonPath) => ({ jsonPath })),
          schema: {
            openAPIV3Schema: {
              ...shape,
              properties: {
                apiVersion: API_VERSION_FIELD,
                kind: KIND_FIELD,
                metadata: { type: 'object' },
                ...shape.properties,
              },
            },
          },
        },
      ],
    },
  };
}
