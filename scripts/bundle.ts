/**
 * Bundles the program into a folder, dist unless another is named: boxwright.js, which checks Node, start.js, and in
 * further files what single commands need. Beside them is what `boxwright dev` needs: the supervisor's script and the
 * pinned Go modules (src/devcluster/assets.ts), and the examples. What the folder held before is taken away.
 * Usage: node scripts/bundle.ts [folder]
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { OLDEST_NODE } from '../src/cli/required-node.ts';
import { byRequire } from './bundle/by-require.ts';
import { leftOut, packagesByName } from './bundle/left-out.ts';

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

/** The first file checks Node and loads the rest, which an older Node could not even read. */
function restApart(): Plugin {
  return {
    name: 'rest-apart',
    setup(to) {
      to.onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: './start.js', external: true }));
    },
  };
}

/** Makes the bundle in `folder` and answers the path of the program. */
export async function bundle(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await buildInto(folder, { entryPoints: { boxwright: source('cli/main.ts') }, plugins: [restApart()] });
  await buildInto(folder, {
    entryPoints: { start: source('cli/start.ts') },
    // What one command needs is loaded for it alone.
    splitting: true,
    plugins: [leftOut(), packagesByName()],
  });
  await buildInto(folder, { entryPoints: { supervisor: source('devcluster/supervisor/supervisor.ts') } });
  // Without it Node first reads the file as CommonJS, in vain and at the price of 20 MB.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type: 'module' })}\n`);
  cpSync(source('devcluster/go'), join(folder, 'go'), { recursive: true });
  // The image is built without them: it holds the bundle alone.
  const examples = join(ROOT, 'deploy', 'examples');
  if (existsSync(examples)) cpSync(examples, join(folder, 'examples'), { recursive: true });
  return join(folder, 'boxwright.js');
}

async function buildInto(folder: string, options: BuildOptions): Promise<void> {
  const { outputFiles } = await build({ ...SHARED, ...options, outdir: folder, write: false });
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of outputFiles) {
    // Under the name of a plugin kubectl starts it as it is.
    const mode = basename(path) === 'boxwright.js' ? 0o755 : 0o644;
    writeFileSync(path, path.endsWith('.js') ? byRequire(text) : text, { mode });
  }
}

if (import.meta.main) await bundle(process.argv[2] ?? join(ROOT, 'dist'));
