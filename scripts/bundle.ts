/**
 * Bundles the program into boxwright.js of a folder, dist unless another is named, and puts beside it what
 * `boxwright dev` needs: the supervisor's script and the pinned Go modules (src/devcluster/assets.ts), and the
 * examples. What the folder held before is taken away. Usage: node scripts/bundle.ts [folder]
 */
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { OLDEST_NODE } from '../src/cli/required-node.ts';

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: `node${OLDEST_NODE}`,
  sourcemap: true,
  minify: false,
  logLevel: 'warning',
  banner: {
    // The CommonJS packages among the dependencies call require, which ES modules do not have.
    js: "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
  },
};

const ROOT = join(import.meta.dirname, '..');
const source = (path: string): string => join(ROOT, 'src', path);

/**
 * Leaves the API classes of client-node out: its KubeConfig hands them to clients that are not used here. They
 * are a fifth of the bundle and of the time that it takes to start.
 */
function withoutApiClasses(): Plugin {
  let met = false;
  return {
    name: 'without-api-classes',
    setup(to) {
      to.onResolve({ filter: /^\.\/gen\/index\.js$/ }, ({ importer }) => {
        if (!/client-node[\\/]dist[\\/]config\.js$/.test(importer)) return undefined;
        met = true;
        return { path: 'client-node/gen', namespace: 'left-out' };
      });
      to.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
        contents: 'export const createConfiguration = undefined, ServerConfiguration = undefined;',
      }));
      to.onEnd(() => (met ? {} : { errors: [{ text: 'client-node has its API classes elsewhere now' }] }));
    },
  };
}

/**
 * Loads the modules of Node where the modules that import them run. As imports of the one file they would all be
 * loaded before its first line, which an older Node that lacks one would never reach: nobody could be told why.
 */
function builtinsOnDemand(): Plugin {
  return {
    name: 'builtins-on-demand',
    setup(to) {
      to.onResolve({ filter: /^[a-z0-9_/:]+$/ }, ({ path, kind }) =>
        kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
      );
      to.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(path)});`,
      }));
    },
  };
}

/** Makes the bundle in `folder` and answers the path of the program. */
export async function bundle(folder: string): Promise<string> {
  const program = join(folder, 'boxwright.js');
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...SHARED,
    entryPoints: [source('cli/main.ts')],
    outfile: program,
    plugins: [withoutApiClasses(), builtinsOnDemand()],
  });
  await build({
    ...SHARED,
    entryPoints: [source('devcluster/supervisor/supervisor.ts')],
    outfile: join(folder, 'supervisor.js'),
  });
  // Without it Node first reads the file as CommonJS, in vain and at the price of 20 MB.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'module' })}\n`);
  cpSync(source('devcluster/go'), join(folder, 'go'), { recursive: true });
  // The image is built without them: it holds the bundle alone.
  const examples = join(ROOT, 'deploy', 'examples');
  if (existsSync(examples)) cpSync(examples, join(folder, 'examples'), { recursive: true });
  return program;
}

if (import.meta.main) await bundle(process.argv[2] ?? join(ROOT, 'dist'));
