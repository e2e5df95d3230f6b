/**
 * Bundles the program into dist/boxwright.js, and puts beside it what src/devcluster/assets.ts names: the
 * supervisor's script and the pinned Go modules. Usage: node scripts/bundle.ts
 */
import { cpSync, rmSync } from 'node:fs';
import { build, type BuildOptions } from 'esbuild';

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.19',
  sourcemap: true,
  minify: false,
  logLevel: 'info',
  banner: {
    // The CommonJS packages among the dependencies call require, which ES modules do not have.
    js: "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
  },
};

rmSync('dist', { recursive: true, force: true });
await build({ ...SHARED, entryPoints: ['src/cli/main.ts'], outfile: 'dist/boxwright.js' });
await build({
  ...SHARED,
  entryPoints: ['src/devcluster/supervisor/supervisor.ts'],
  outfile: 'dist/supervisor.js',
});
cpSync('src/devcluster/go', 'dist/go', { recursive: true });
