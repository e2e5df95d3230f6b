/**
 * Writes deploy/flux/health-checks: expressions that tell Flux the health of every kind, as a kustomize
 * component for the Kustomization that applies them. `--check` writes nothing and exits 1 when one is stale.
 */
import { join } from 'node:path';
import { Document } from 'yaml';
import { KINDS } from '../src/api/kinds.ts';
import { settle } from './generated.ts';

const NOTE = ' Generated from src/api by scripts/gen-flux.ts: edit there.';

/**
 * Common Expression Language, as Flux evaluates it after its own look at the generation: in progress, failed,
 * current, the first that holds. A status without conditions is in progress, as no expression holds then.
 */
const EXPRESSIONS = {
  inProgress: is('Reconciling'),
  failed: is('Stalled'),
  current: is('Ready'),
};

function is(type: string): string {
  return `has(status.conditions) && status.conditions.exists(c, c.type == '${type}' && c.status == 'True')`;
}

const patch = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'any' },
  spec: {
    healthCheckExprs: KINDS.map(({ group, version, kind }) => ({
      apiVersion: `${group}/${version}`,
      kind,
      ...EXPRESSIONS,
    })),
  },
};
const component = {
  apiVersion: 'kustomize.config.k8s.io/v1alpha1',
  kind: 'Component',
  patches: [
    {
      path: 'health-check-exprs.yaml',
      target: {
        group: 'kustomize.toolkit.fluxcd.io',
        kind: 'Kustomization',
        labelSelector: 'boxwright.dev/health-checks=true',
      },
    },
  ],
};

const files = new Map([
  ['health-check-exprs.yaml', yaml(patch)],
  ['kustomization.yaml', yaml(component)],
]);
process.exitCode = await settle(
  join(import.meta.dirname, '..', 'deploy', 'flux', 'health-checks'),
  '.yaml',
  files,
  process.argv.includes('--check'),
);

function yaml(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  document.commentBefore = NOTE;
  return document.toString({ lineWidth: 0, singleQuote: true });
}
