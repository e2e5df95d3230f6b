/**
 * Writes deploy/argocd: health and actions of every kind in the file layout of Argo CD's own repository
 * (resource_customizations/<group>/<Kind>), and the same as a kustomize component that patches its ConfigMap
 * argocd-cm. `--check` writes nothing and exits 1 when one is stale.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { Document } from 'yaml';
import { KINDS } from '../src/api/kinds.ts';
import { GROUP } from '../src/api/names.ts';
import type { KindDefinition } from '../src/api/schema/kind.ts';
import { action, discovery, health } from './argocd/lua.ts';
import { after, statesOf, type State } from './argocd/samples.ts';
import { actionsOf, traitsOf, type Action } from './argocd/traits.ts';
import { settle } from './generated.ts';

const root = join(import.meta.dirname, '..', 'deploy', 'argocd');
const NOTE = ' Generated from src/api by scripts/gen-argocd.ts: edit there.';
const STYLE = { lineWidth: 0, singleQuote: true } as const;
/** The states on which actions are tried: one with and one without what they change, where there are such. */
const TRIED = new Set([
  'healthy',
  'leased',
  'stopped',
  'failed',
  'paused',
  'paused-by-annotation',
  'deleting',
]);
const files = new Map<string, string>();
const patch: Record<string, string> = {};

for (const definition of KINDS) addKind(definition);
files.set(
  join('component', 'argocd-cm.yaml'),
  yaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-cm' }, data: patch }),
);
files.set(
  join('component', 'kustomization.yaml'),
  yaml({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: [{ path: 'argocd-cm.yaml', target: { kind: 'ConfigMap', name: 'argocd-cm' } }],
  }),
);
process.exitCode = await settleAll(process.argv.includes('--check'));

function addKind(definition: KindDefinition): void {
  const traits = traitsOf(definition);
  const actions = actionsOf(traits);
  const states = statesOf(definition, traits);
  const folder = join('resource_customizations', GROUP, definition.kind);
  files.set(join(folder, 'health.lua'), health(traits));
  files.set(join(folder, 'health_test.yaml'), yaml({ tests: healthTests(states) }));
  files.set(join(folder, 'actions', 'discovery.lua'), discovery(traits, actions));
  for (const one of actions) files.set(join(folder, 'actions', one.name, 'action.lua'), action(one));

  const actionTests = actions.flatMap((one) =>
    firstTwo([...states].filter(([name, state]) => TRIED.has(name) && !isDisabled(one, state))).map(
      ([name, state]) => {
        const expectedOutputPath = `testdata/${name}-${one.name}.yaml`;
        files.set(join(folder, 'actions', expectedOutputPath), yaml(after(one.name, state.object)));
        return { action: one.name, inputPath: inputOf(name), expectedOutputPath };
      },
    ),
  );
  const discoveryTests = [...states].map(([name, state]) => ({
    inputPath: inputOf(name),
    result: actions.map((one) => ({
      name: one.name,
      displayName: one.displayName,
      iconClass: one.icon,
      disabled: isDisabled(one, state),
    })),
  }));
  files.set(join(folder, 'actions', 'action_test.yaml'), yaml({ discoveryTests, actionTests }));
  for (const [name, { object }] of states) files.set(join(folder, 'testdata', `${name}.yaml`), yaml(object));
  patch[`resource.customizations.health.${GROUP}_${definition.kind}`] = health(traits);
  patch[`resource.customizations.actions.${GROUP}_${definition.kind}`] = plain({
    mergeBuiltinActions: true,
    'discovery.lua': discovery(traits, actions),
    definitions: actions.map((one) => ({ name: one.name, 'action.lua': action(one) })),
  });
}

function inputOf(name: string): string {
  return `../testdata/${name}.yaml`;
}

function firstTwo<T>(all: readonly T[]): readonly T[] {
  return all.slice(0, 2);
}

function healthTests(states: ReadonlyMap<string, State>): object[] {
  return [...states].map(([name, { health: healthStatus }]) => ({
    healthStatus,
    inputPath: `testdata/${name}.yaml`,
  }));
}

function isDisabled({ name }: Action, { disabled, but }: State): boolean {
  return disabled === 'all but' ? name !== but : disabled.includes(name);
}

function yaml(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  document.commentBefore = NOTE;
  return document.toString(STYLE);
}

function plain(value: object): string {
  return new Document(value, { aliasDuplicateObjects: false }).toString(STYLE);
}

/** Folder by folder; what a kind that went left behind is stale too. */
async function settleAll(check: boolean): Promise<number> {
  const present = existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
        .filter((path) => /^(resource_customizations|component)\b/.test(path))
    : [];
  const groups = new Map<string, Map<string, string>>();
  for (const path of [...present, ...files.keys()]) {
    const key = `${dirname(path)} ${extname(path)}`;
    const group = groups.get(key) ?? new Map<string, string>();
    const content = files.get(path);
    if (content !== undefined) group.set(basename(path), content);
    groups.set(key, group);
  }
  let worst = 0;
  for (const [key, group] of groups) {
    const [folder = '', ending = ''] = key.split(' ');
    worst = Math.max(worst, await settle(join(root, folder), ending, group, check));
  }
  return worst;
}
