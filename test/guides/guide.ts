import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { ROOT } from '../api/install.ts';
import type { TestCluster } from '../support/cluster.ts';
import { run, type RunResult } from '../support/run.ts';

/** The blocks of a language that a section of a guide shows, in order; `heading` with its marks. */
export function blocksOf(
  guide: string,
  heading: `## ${string}` | `### ${string}`,
  language = 'sh',
): string[] {
  const text = readFileSync(join(ROOT, guide), 'utf8');
  const start = text.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${guide} has no section "${heading}"`);
  const rest = text.slice(start + heading.length + 2);
  const depth = heading.indexOf(' ');
  // Not of one mark: within a block that is a comment.
  const end = rest.search(new RegExp(`^#{2,${depth}} `, 'm'));
  const section = end === -1 ? rest : rest.slice(0, end);
  return [...section.matchAll(new RegExp(`^ *\`\`\`${language}\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
}

/** Without the commands that wait for pods: there is nobody here to run them. */
export function withoutPods(script: string): string {
  return script.replaceAll(/^(helm test|kubectl .*rollout status) .*\n/gm, '');
}

/** A shell as the administrator of a cluster has it: kubectl and helm on PATH, in a checkout. */
export function shell(
  cluster: TestCluster,
  checkout: string,
): (script: string | undefined) => Promise<RunResult> {
  const scratch = dirname(cluster.kubeconfigPath);
  const env = {
    KUBECONFIG: cluster.kubeconfigPath,
    KUBECACHEDIR: join(scratch, 'kubectl-cache'),
    HELM_CACHE_HOME: join(scratch, 'helm-cache'),
    HELM_CONFIG_HOME: join(scratch, 'helm-config'),
    HELM_DATA_HOME: join(scratch, 'helm-data'),
    PATH: `${dirname(inject('controlPlane').kubectl)}:${process.env['PATH']}`,
  };
  return async (script = '') => {
    if (script.trim() === '') throw new Error('the guide has no such commands');
    const result = await run('sh', ['-euc', script], { cwd: checkout, env, timeoutMs: 180_000 });
    if (result.code !== 0) throw new Error(`${script}\nended with ${result.code}: ${result.stderr}`);
    return result;
  };
}
