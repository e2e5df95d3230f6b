import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUP } from '../../src/api/names.ts';

/** The files of deploy/argocd as Argo CD's own repository lays them out. */
export const CUSTOMIZATIONS = join(
  import.meta.dirname,
  '..',
  '..',
  'deploy',
  'argocd',
  'resource_customizations',
  GROUP,
);

/** A line of health_test.yaml. */
export interface HealthTest {
  inputPath: string;
  healthStatus: { status: string; message: string };
}

/** A line of `discoveryTests` in action_test.yaml. */
export interface DiscoveryTest {
  inputPath: string;
  result: { name: string; displayName: string; iconClass: string; disabled: boolean }[];
}

/** A line of `actionTests` in action_test.yaml. */
export interface ActionTest {
  action: string;
  inputPath: string;
  expectedOutputPath: string;
}

/** Every script, under names such as `Box/health`, `Box/discovery` and `Box/pause`. */
export function readScripts(): Record<string, string> {
  const scripts: Record<string, string> = {};
  for (const kind of readdirSync(CUSTOMIZATIONS)) {
    const read = (...path: string[]): string => readFileSync(join(CUSTOMIZATIONS, kind, ...path), 'utf8');
    scripts[`${kind}/health`] = read('health.lua');
    scripts[`${kind}/discovery`] = read('actions', 'discovery.lua');
    for (const entry of readdirSync(join(CUSTOMIZATIONS, kind, 'actions'), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name === 'testdata') continue;
      scripts[`${kind}/${entry.name}`] = read('actions', entry.name, 'action.lua');
    }
  }
  return scripts;
}
