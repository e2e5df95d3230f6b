import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requiredVersion } from '../../src/devcluster/programs/components.ts';
import { goTool } from '../support/go-tool.ts';
import { run } from '../support/run.ts';

/** A program of a GitOps tool, as its makers release it. */
interface Recipe {
  /** The folder below `programs/` whose go.mod and go.sum pin it. */
  pins: 'argocd' | 'flux';
  module: string;
  /** The package of its main function, below the module. */
  main: string;
  /** The variable in which it has its version. */
  version?: string;
}

const RECIPES = {
  'source-controller': { pins: 'flux', module: 'github.com/fluxcd/source-controller', main: '' },
  'kustomize-controller': { pins: 'flux', module: 'github.com/fluxcd/kustomize-controller', main: '' },
  'helm-controller': { pins: 'flux', module: 'github.com/fluxcd/helm-controller', main: '' },
  // One program for all components: the environment says which.
  argocd: {
    pins: 'argocd',
    module: 'github.com/argoproj/argo-cd/v3',
    main: '/cmd',
    version: 'github.com/argoproj/argo-cd/v3/common.version',
  },
} as const satisfies Record<string, Recipe>;

export type ProgramName = keyof typeof RECIPES;

/** A built program, and what its module has besides it: definitions and manifests. */
export interface Program {
  name: ProgramName;
  version: string;
  path: string;
  /** The folder of its module's source. */
  source: string;
}

/** The program, built where this machine has not got it yet: minutes. */
export async function program(name: ProgramName): Promise<Program> {
  const { pins, module, main, version: variable }: Recipe = RECIPES[name];
  const folder = join(import.meta.dirname, 'programs', pins);
  const version = requiredVersion(readFileSync(join(folder, 'go.mod'), 'utf8'), module);
  const path = await goTool({
    folder,
    name,
    package: `${module}${main}`,
    ...(variable === undefined ? {} : { variables: { [variable]: version.replace(/^v/, '') } }),
  });
  const args = ['mod', 'download', '-json', `${module}@${version}`];
  const { code, stdout, stderr } = await run('go', args, { cwd: folder, env: { GOWORK: 'off' } });
  if (code !== 0) throw new Error(`go ${args.join(' ')}: ${stderr}`);
  return { name, version, path, source: (JSON.parse(stdout) as { Dir: string }).Dir };
}
