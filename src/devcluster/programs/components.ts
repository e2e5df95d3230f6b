import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goModuleFolder } from '../assets.ts';

export type ComponentName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** A program of the control plane and how it is built. */
export interface Component {
  name: ComponentName;
  version: string;
  /** The folder with the go.mod and go.sum that pin it. */
  moduleDir: string;
  /** The Go package of its main function. */
  package: string;
  ldflags: string;
  /** Where it is kept: the version, and a hash of all that decides what comes out of the build. */
  cacheKey: string;
  /** What a cold build takes on two cores, for people. */
  takes: string;
}

interface Recipe {
  name: ComponentName;
  module: 'etcd' | 'kubernetes';
  root: string;
  package: string;
  takes: string;
}

const RECIPES: readonly Recipe[] = [
  {
    name: 'etcd',
    module: 'etcd',
    root: 'go.etcd.io/etcd/server/v3',
    package: 'go.etcd.io/etcd/server/v3',
    takes: 'about a minute',
  },
  {
    name: 'kube-apiserver',
    module: 'kubernetes',
    root: 'k8s.io/kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    takes: 'about six minutes',
  },
  {
    name: 'kube-controller-manager',
    module: 'kubernetes',
    root: 'k8s.io/kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    takes: 'about two minutes',
  },
];

/** The programs in the order in which they are built and started. */
export const COMPONENT_NAMES: readonly ComponentName[] = RECIPES.map(({ name }) => name);

/** How each is built, in that order. Versions come from the go.mod files. Throws `PartsMissingError`. */
export function components(): Component[] {
  return RECIPES.map((recipe) => {
    const moduleDir = goModuleFolder(recipe.module);
    const goMod = readFileSync(join(moduleDir, 'go.mod'), 'utf8');
    const goSum = readFileSync(join(moduleDir, 'go.sum'), 'utf8');
    const version = requiredVersion(goMod, recipe.root);
    const ldflags = linkerFlags(recipe, version);
    const hash = createHash('sha256')
      .update([goMod, goSum, ldflags, process.platform, process.arch].join('\0'))
      .digest('hex');
    return {
      name: recipe.name,
      version,
      moduleDir,
      package: recipe.package,
      ldflags,
      cacheKey: `${recipe.module}-${version}-${hash.slice(0, 12)}`,
      takes: recipe.takes,
    };
  });
}

/** The version a go.mod requires of `module`. */
export function requiredVersion(goMod: string, module: string): string {
  for (const line of goMod.split('\n')) {
    const [first, second, third] = line.trim().split(/\s+/);
    if (first === 'require' && second === module && third !== undefined) return third;
    if (first === module && second !== undefined) return second;
  }
  throw new Error(`go.mod requires no ${module}`);
}

/** Without the -X flags the Kubernetes programs call themselves v0.0.0, and kubectl complains. */
function linkerFlags(recipe: Recipe, version: string): string {
  const strip = '-s -w';
  if (recipe.module !== 'kubernetes') return strip;
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const at = '-X k8s.io/component-base/version.';
  return `${strip} ${at}gitVersion=${version} ${at}gitMajor=${major} ${at}gitMinor=${minor}`;
}
