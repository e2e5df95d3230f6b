import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { GROUP } from '../../src/api/names.ts';
import { ROOT } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { readScripts } from './layout.ts';

interface Actions {
  mergeBuiltinActions: boolean;
  'discovery.lua': string;
  definitions: { name: string; 'action.lua': string }[];
}

it('patches argocd-cm with the same scripts and keeps what an installation has there', async () => {
  const place = mkdtempSync(join(tmpdir(), 'boxwright-argocd-'));
  try {
    // What kustomize reads lies below the folder that it builds.
    cpSync(join(ROOT, 'deploy/argocd/component'), join(place, 'boxwright'), { recursive: true });
    writeFileSync(
      join(place, 'argocd-cm.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: {url: https://argocd.example.com}\n',
    );
    writeFileSync(
      join(place, 'kustomization.yaml'),
      'resources: [argocd-cm.yaml]\ncomponents: [boxwright]\n',
    );
    const built = await testCluster().kubectl(['kustomize', place]);
    expect(built.stderr).toBe('');
    const { data, metadata } = parse(built.stdout) as { data: Record<string, string>; metadata: object };
    expect(metadata).toEqual({ name: 'argocd-cm', namespace: 'argocd' });
    expect(data['url']).toBe('https://argocd.example.com');
    expect(scriptsOf(data)).toEqual(readScripts());
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

/** The scripts of the ConfigMap under the names that the layout gives them. */
function scriptsOf(data: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.fromEntries(
    KINDS.flatMap(({ kind }) => {
      const actions = parse(data[`resource.customizations.actions.${GROUP}_${kind}`] ?? '') as Actions;
      expect(actions.mergeBuiltinActions).toBe(true);
      return [
        [`${kind}/health`, data[`resource.customizations.health.${GROUP}_${kind}`]],
        [`${kind}/discovery`, actions['discovery.lua']],
        ...actions.definitions.map((one) => [`${kind}/${one.name}`, one['action.lua']]),
      ];
    }),
  );
}
