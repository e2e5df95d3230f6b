import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../api/install.ts';
import { imageSettings } from '../support/image-settings.ts';
import { run } from '../support/run.ts';

/** What the image holds. */
export interface Image extends Disposable {
  /** Everybody may read it and nobody may write it. */
  folder: string;
  /** Writable, beside it. */
  scratch: string;
  /** The entry point, as the Dockerfile has it. */
  entryPoint: string[];
}

/** Does the steps of the Dockerfile without an engine. */
export async function buildImage(): Promise<Image> {
  const scratch = mkdtempSync(join(tmpdir(), 'boxwright-image-'));
  const folder = join(scratch, 'app');
  // The build stage: what .dockerignore lets through, and what npm ci installs.
  const build = join(scratch, 'build');
  mkdirSync(build);
  for (const name of ['package.json', 'scripts', 'src']) {
    // Copies: a script behind a link would take its real place for the root.
    cpSync(join(ROOT, name), join(build, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
  const built = await run(process.execPath, ['scripts/bundle.ts'], { cwd: build });
  if (built.code !== 0) throw new Error(built.stderr);
  mkdirSync(folder);
  const program = join(folder, 'boxwright.js');
  const copied = readdirSync(join(build, 'dist')).filter((name) => /\.js$|^package\.json$/.test(name));
  for (const name of copied) {
    copyFileSync(join(build, 'dist', name), join(folder, name));
    chmodSync(join(folder, name), 0o444);
  }
  chmodSync(folder, 0o555);
  chmodSync(scratch, 0o755);
  return {
    folder,
    scratch,
    entryPoint: ['node', ...imageSettings().nodeArgs, program],
    [Symbol.dispose]() {
      chmodSync(folder, 0o755);
      rmSync(scratch, { recursive: true });
    },
  };
}
