import type { Box } from '../../../api/box.ts';
import type { Instance } from '../../../api/instance.ts';
import type { PolicyBox } from '../../../api/policy-box.ts';
import {
  unsuitedInstance,
  unsuitedOverrides,
  type DeclaredBox,
  type FindBox,
  type Unsuited,
} from '../../../api/unsuited.ts';
import { findingAt, type Finding, type Valid } from './finding.ts';
import type { Tree } from './references.ts';

/**
 * Values of a resource that fit no declaration, where the files have what declares them: the service would take such a
 * value without a word, and deploy the default.
 */
export function variableFindings({ resource, from }: Valid, tree: Tree): Finding[] {
  const { kind, metadata } = resource;
  const about = { kind, namespace: metadata.namespace, name: metadata.name };
  return unsuited(resource, new Lookup(tree, metadata.namespace)).map(({ field, message }) =>
    findingAt(from, about, field, message),
  );
}

function unsuited(resource: Valid['resource'], at: Lookup): Unsuited[] {
  switch (resource.kind) {
    case 'Box':
      return unsuitedOverrides(declared(resource), resource.spec.overrides, at.nested);
    case 'Instance':
      return ofInstance(resource, at);
    default:
      return [];
  }
}

function ofInstance({ spec }: Instance, at: Lookup): Unsuited[] {
  const policyBox = at.policyBox(spec.policyBoxRef?.name);
  return unsuitedInstance(
    spec,
    {
      box: at.box(spec.boxRef?.name),
      policyBox: policyBox === undefined ? undefined : { ...policyBox.spec, name: policyBox.metadata.name },
    },
    at.nested,
  );
}

function declared({ metadata, spec }: Box): DeclaredBox {
  return { ...spec, name: metadata.name };
}

class Lookup {
  readonly #tree: Tree;
  readonly #namespace: string;

  constructor(tree: Tree, namespace: string) {
    this.#tree = tree;
    this.#namespace = namespace;
  }

  box(name: string | undefined): DeclaredBox | undefined {
    const box =
      name === undefined ? undefined : (this.#tree.get('Box', this.#namespace, name) as Box | undefined);
    return box === undefined ? undefined : declared(box);
  }

  policyBox(name: string | undefined): PolicyBox | undefined {
    if (name === undefined) return undefined;
    return this.#tree.get('PolicyBox', this.#namespace, name) as PolicyBox | undefined;
  }

  /** By its id, or in the cluster: what it declares is not known here. */
  readonly nested: FindBox = ({ boxRef }) => this.box(boxRef?.name);
}
