/**
 * Writes the RBAC rules of chart and kustomize from src/controllers/rights.ts and src/api. `--check` writes
 * nothing and exits 1 when one is stale.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { KINDS } from '../src/api/kinds.ts';
import { ANNOTATION_NOTES, ANNOTATIONS, GROUP } from '../src/api/names.ts';
import { LEADER_LEASE, METRICS_READER, RIGHTS, type Right } from '../src/controllers/rights.ts';
import { settle } from './generated.ts';

const SOURCE = 'Generated from src/controllers/rights.ts by scripts/gen-rbac.ts: edit there.';
const NAMESPACE = 'boxwright-system';
const NAME = 'boxwright-operator';
const LABELS = { 'app.kubernetes.io/name': 'boxwright', 'app.kubernetes.io/part-of': 'boxwright' };

interface Rule {
  apiGroups: readonly string[];
  resources: readonly string[];
  resourceNames?: readonly string[];
  verbs: readonly string[];
}

/** Rights as RBAC rules: those that differ in the resource alone share one. */
function rulesOf(rights: readonly Right[]): Rule[] {
  const rules = new Map<string, Rule & { resources: string[] }>();
  for (const { apiGroup, resource, verbs, resourceNames } of rights) {
    const key = JSON.stringify([apiGroup, verbs, resourceNames]);
    const rule = rules.get(key) ?? {
      apiGroups: [apiGroup],
      resources: [],
      ...(resourceNames === undefined ? {} : { resourceNames }),
      verbs,
    };
    rule.resources.push(resource);
    rules.set(key, rule);
  }
  return [...rules.values()];
}

function rightsOf(scope: Right['scope'], when?: Right['when']): Rule[] {
  return rulesOf(RIGHTS.filter((right) => right.scope === scope && right.when === when));
}

/** What people may do with the kinds, added to the cluster's own view, edit and admin. Secrets are not among it. */
function aggregated(verbs: readonly string[]): Rule[] {
  return [{ apiGroups: [GROUP], resources: KINDS.map(({ plural }) => plural), verbs }];
}

const VIEW = aggregated(['get', 'list', 'watch']);
const EDIT = aggregated(['create', 'delete', 'deletecollection', 'patch', 'update']);

function yaml(...documents: object[]): string {
  return documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

function template(name: string, ...parts: string[]): string {
  return `{{- define "boxwright.${name}" -}}\n${parts.join('')}{{- end }}\n`;
}

/** What the operator alone writes, as a list in CEL. */
const OWN_ANNOTATIONS = Object.entries(ANNOTATIONS)
  .filter(([name]) => ANNOTATION_NOTES[name as keyof typeof ANNOTATIONS].writtenBy === 'operator')
  .map(([, annotation]) => `'${annotation}'`);

const helpers = [
  `{{- /* ${SOURCE} */}}\n`,
  template(
    'rights.watched',
    yaml(rightsOf('watched')),
    `{{- if .Values.secrets.watch }}\n${yaml(rightsOf('watched', 'secrets.watch'))}{{- end }}\n`,
  ),
  template(
    'rights.own',
    // Each alias of the chart leads for itself.
    yaml(rightsOf('own')).replace(`- ${LEADER_LEASE}\n`, '- {{ include "boxwright.leaseName" . }}\n'),
    `{{- if .Values.secrets.keepForDeletion }}\n${yaml(rightsOf('own', 'secrets.keepForDeletion'))}{{- end }}\n`,
  ),
  template('rights.reviews', yaml(rightsOf('cluster', 'metrics.secure'))),
  template('rights.metricsReader', yaml([METRICS_READER])),
  template('rights.view', yaml(VIEW)),
  template('rights.edit', yaml(EDIT)),
  template('ownAnnotations', `[${OWN_ANNOTATIONS.join(', ')}]\n`),
].join('');

function role(
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: readonly object[],
  more: object = {},
): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, ...(kind === 'Role' ? { namespace: NAMESPACE } : {}), labels: LABELS, ...more },
    rules,
  };
}

function binding(kind: 'RoleBinding' | 'ClusterRoleBinding', name: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, ...(kind === 'RoleBinding' ? { namespace: NAMESPACE } : {}), labels: LABELS },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: kind === 'RoleBinding' ? 'Role' : 'ClusterRole',
      name,
    },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  };
}

function aggregate(name: string, rules: readonly Rule[], ...into: string[]): object {
  const labels = Object.fromEntries(
    into.map((target) => [`rbac.authorization.k8s.io/aggregate-to-${target}`, 'true']),
  );
  return role('ClusterRole', `boxwright-${name}`, rules, { labels: { ...LABELS, ...labels } });
}

const watchedRole = `${NAME}-watched`;
const reviewsRole = `${NAME}-metrics-reviews`;
const headed = (...documents: object[]): string => `# ${SOURCE}\n${yaml(...documents)}`;
const targets: [folder: string, ending: string, files: Map<string, string>][] = [
  ['helm/boxwright/templates', 'rights.tpl', new Map([['_rights.tpl', helpers]])],
  [
    'deploy/kustomize/base',
    'rbac.yaml',
    new Map([
      ['own-rbac.yaml', headed(role('Role', NAME, rightsOf('own')), binding('RoleBinding', NAME))],
      [
        'cluster-rbac.yaml',
        headed(
          role('ClusterRole', watchedRole, rightsOf('watched')),
          binding('ClusterRoleBinding', watchedRole),
        ),
      ],
      [
        'metrics-rbac.yaml',
        headed(
          role('ClusterRole', reviewsRole, rightsOf('cluster', 'metrics.secure')),
          binding('ClusterRoleBinding', reviewsRole),
          role('ClusterRole', `${NAME}-metrics-reader`, [METRICS_READER]),
        ),
      ],
      [
        'people-rbac.yaml',
        headed(aggregate('view', VIEW, 'view', 'edit', 'admin'), aggregate('edit', EDIT, 'edit', 'admin')),
      ],
    ]),
  ],
  [
    'deploy/kustomize/watched-namespace',
    'rbac.yaml',
    new Map([
      [
        'rbac.yaml',
        headed(role('Role', watchedRole, rightsOf('watched')), binding('RoleBinding', watchedRole)),
      ],
    ]),
  ],
];
for (const [folder, ending, files] of targets) {
  const path = join(import.meta.dirname, '..', folder);
  const stale = await settle(path, ending, files, process.argv.includes('--check'));
  if (stale !== 0) process.exitCode = stale;
}
