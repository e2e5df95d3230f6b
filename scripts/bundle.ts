/**
 * Bundles the program into boxwright.js of a folder, dist unless another is named, and puts beside it what
 * `boxwright dev` needs: the supervisor's script and the pinned Go modules (src/devcluster/assets.ts), and the
 * examples. What the folder held before is taken away. Usage: node scripts/bundle.ts [folder]
 */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
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

/** Makes the bundle in `folder` and answers the path of the program. */
export async function bundle(folder: string): Promise<string> {
  const program = join(folder, 'boxwright.js');
  rmSync(folder, { recursive: true, force: true });
  await build({ ...SHARED, entryPoints: [source('cli/main.ts')], outfile: program });
  await build({
    ...SHARED,
    entryPoints: [source('devcluster/supervisor/supervisor.ts')],
    outfile: join(folder, 'supervisor.js'),
  });
  cpSync(source('devcluster/go'), join(folder, 'go'), { recursive: true });
  // The image is built without them: it holds the bundle alone.
  const examples = join(ROOT, 'deploy', 'examples');
  if (existsSync(examples)) cpSync(examples, join(folder, 'examples'), { recursive: true });
  return program;
}

if (import.meta.main) await bundle(process.argv[2] ?? join(ROOT, 'dist'));
