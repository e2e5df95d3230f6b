import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requiredVersion } from '../../src/devcluster/programs/components.ts';
import { goTool } from '../support/go-tool.ts';

/** The path of Helm 3, built from its pinned Go module. */
export function helm3(): Promise<string> {
  const goMod = readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8');
  // As Helm's own Makefile does: otherwise it takes the cluster of `helm template` for a Kubernetes 1.20.
  const [, minor = ''] = requiredVersion(goMod, 'k8s.io/client-go').split('.');
  const kubernetes = ['chartutil', 'lint/rules'].flatMap((folder) => [
    [`helm.sh/helm/v3/pkg/${folder}.k8sVersionMajor`, '1'],
    [`helm.sh/helm/v3/pkg/${folder}.k8sVersionMinor`, minor],
  ]);
  return goTool({
    folder: import.meta.dirname,
    package: 'helm.sh/helm/v3/cmd/helm',
    variables: Object.fromEntries([
      ['helm.sh/helm/v3/internal/version.version', requiredVersion(goMod, 'helm.sh/helm/v3')],
      ...kubernetes,
    ]) as Record<string, string>,
  });
}
