import { parseAllDocuments, stringify } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { formatKubernetesVersion, OLDEST_KUBERNETES } from '../../src/base/kubernetes-version.ts';

/** What a Chart.yaml is made of. */
export interface ChartFacts {
  name: string;
  description: string;
  version: string;
  /** Of CHANGELOG.md: a section `## <version>` becomes the list of changes. */
  changelog: string;
  /** Manifests, several documents each. */
  examples: readonly string[];
}

const HOME = 'https://boxwright.dev';

/** Chart.yaml with the annotations of Artifact Hub ("Helm annotations" in its documentation). */
export function chartYaml(facts: ChartFacts, note: string): string {
  const { name, description, version } = facts;
  const changes = changesOf(facts.changelog, version);
  const chart = {
    apiVersion: 'v2',
    name,
    description,
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: `>=${formatKubernetesVersion(OLDEST_KUBERNETES)}-0`,
    home: HOME,
    keywords: ['operator', 'deployment', 'gitops', 'boxes'],
    maintainers: [{ name: 'Boxwright maintainers', url: HOME }],
    annotations: {
      'artifacthub.io/category': 'integration-delivery',
      'artifacthub.io/license': 'Apache-2.0',
      'artifacthub.io/operator': 'true',
      'artifacthub.io/operatorCapabilities': 'Seamless Upgrades',
      'artifacthub.io/prerelease': String(version.startsWith('0.')),
      'artifacthub.io/containsSecurityUpdates': 'false',
      'artifacthub.io/links': stringify([{ name: 'Home', url: HOME }]),
      ...(changes.length === 0 ? {} : { 'artifacthub.io/changes': stringify(changes, { lineWidth: 0 }) }),
      'artifacthub.io/crds': stringify(crds(), { lineWidth: 0 }),
      'artifacthub.io/crdsExamples': stringify(examplesOf(facts.examples), { lineWidth: 0 }),
      ...(name === 'boxwright'
        ? {
            'artifacthub.io/images': stringify([
              { name: 'operator', image: `ghcr.io/boxwright/boxwright:${version}` },
            ]),
            'artifacthub.io/recommendations': stringify([
              { url: 'https://artifacthub.io/packages/helm/prometheus-community/kube-prometheus-stack' },
            ]),
          }
        : {}),
    },
  };
  return `# ${note}\n${stringify(chart, { lineWidth: 0 })}`;
}

function crds(): object[] {
  return KINDS.map(({ kind, version, plural, group, description }) => ({
    kind,
    version,
    name: `${plural}.${group}`,
    displayName: kind,
    description,
  }));
}

function examplesOf(texts: readonly string[]): unknown[] {
  const kinds = new Set(KINDS.map(({ kind }) => kind));
  return texts
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as { kind?: string } | null)
    .filter((object) => object?.kind !== undefined && kinds.has(object.kind));
}

function changesOf(changelog: string, version: string): { kind: string; description: string }[] {
  const section = changelog.split(/^## /m).find((part) => part.split(/\s/)[0] === version) ?? '';
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) => ({ kind: 'changed', description: item.trim().replaceAll(/\s+/g, ' ') }));
}
