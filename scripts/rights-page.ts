import { METRICS_READER, RIGHTS, type Right } from '../src/controllers/rights.ts';
import { table } from './markdown.ts';

const NOTE = '<!-- Generated from src/controllers/rights.ts by scripts/gen-reference.ts: edit there. -->';

const SCOPES: readonly { scope: Right['scope']; title: string; about: string }[] = [
  {
    scope: 'watched',
    title: 'Where resources are',
    about:
      'In scoped mode (`namespaces` of the chart, `overlays/namespaced` of kustomize) by a Role in each of these ' +
      'namespaces, and nothing elsewhere; without it by one ClusterRole.',
  },
  {
    scope: 'own',
    title: 'In the operator’s own namespace',
    about: 'By a Role there, in every mode.',
  },
  {
    scope: 'cluster',
    title: 'Of the cluster',
    about:
      'Kinds without a namespace, by a ClusterRole of their own. In scoped mode the chart leaves it out unless ' +
      '`rbac.metricsReviews` says `Always`.',
  },
];

/** The reference of what the operator may do at the API server. */
export function rightsPage(): string {
  const sections = SCOPES.map(({ scope, title, about }) => {
    const rows = RIGHTS.filter((right) => right.scope === scope).map((right) => [
      `\`${right.resource}${right.apiGroup === '' ? '' : ` (${right.apiGroup})`}\``,
      (right.resourceNames ?? []).map((name) => `\`${name}\``).join(', '),
      right.verbs.join(', '),
      right.when === undefined ? 'always' : `\`${right.when}\``,
      right.why,
    ]);
    return `## ${title}\n\n${about}\n\n${table(['resource', 'only the object', 'verbs', 'when', 'why'], rows)}`;
  });
  const [path] = METRICS_READER.nonResourceURLs;
  return [
    NOTE,
    '# Rights',
    'What the operator may do at the API server, and why. The Roles and ClusterRoles of the [chart]' +
      '(../../helm/boxwright/templates/_rights.tpl) and of [kustomize](../../deploy/kustomize/base) are generated ' +
      'from the same list, so there is nothing to write by hand. “When” names the value of the chart that has to ' +
      'be on.',
    ...sections,
    [
      '## What it may not',
      '',
      '- There is no wildcard, no `delete`, nothing on Pods, Roles, bindings or webhook configurations, and neither `escalate`, `bind` nor `impersonate`.',
      '- Secrets are read by name. They are listed and watched only where `secrets.watch` is on.',
      '- ConfigMaps are listed and watched for their metadata, which RBAC cannot tell from reading them.',
      '- `patch` on a kind is for the finalizer and annotations of the operator; it never writes `spec`.',
      `- Whoever reads metrics needs \`${METRICS_READER.verbs.join(', ')}\` on \`${path}\`: that right is the reader’s, not the operator’s.`,
    ].join('\n'),
    [
      '## A namespace that is deleted',
      '',
      'Kubernetes deletes a namespace’s Roles and bindings together with everything else in it. In scoped mode the ' +
        'operator then has no rights left there and cannot take its finalizers off, so the namespace would not end. ' +
        'Delete the resources first, and wait:',
      '',
      '```sh',
      'kubectl delete boxwright --all --namespace shop --wait',
      'kubectl delete namespace shop',
      '```',
      '',
      'Where it has happened already, give the rights back by a binding that is in no namespace, wait, and take it ' +
        'away again. (With the ClusterRole of the other mode nothing of this is needed.)',
      '',
      '```sh',
      'kubectl apply -f deploy/kustomize/base/cluster-rbac.yaml',
      '# by Helm the ServiceAccount has another name than in that file',
      'kubectl create clusterrolebinding boxwright-farewell --clusterrole=boxwright-operator-watched \\',
      '  --serviceaccount=boxwright-system:boxwright',
      'kubectl wait --for=delete namespace/shop --timeout=15m',
      'kubectl delete clusterrolebinding boxwright-farewell',
      'kubectl delete -f deploy/kustomize/base/cluster-rbac.yaml',
      '```',
    ].join('\n'),
    [
      '## How it is checked',
      '',
      'The end-to-end tests run the operator as the ServiceAccount of the chart, scoped and cluster-wide, with ' +
        'exactly these rights. At the end the audit log of the API server is compared with them: a request that was ' +
        'denied fails the run, and so does a right that nothing has used.',
      '',
      'What yours may do, by the API server’s own word:',
      '',
      '```sh',
      '# installed by Helm',
      'kubectl auth can-i --list --namespace shop --as system:serviceaccount:boxwright-system:boxwright',
      '```',
      '',
      '```sh',
      '# installed by kustomize',
      'kubectl auth can-i --list --namespace shop --as system:serviceaccount:boxwright-system:boxwright-operator',
      '```',
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}
