/**
 * Builds the image with base images pinned by digest. A base image without a digest is resolved first, by
 * `docker buildx imagetools inspect`; nothing is built from one that cannot be.
 *
 * Usage: npm run image -- --tag <name:tag> [--base <image>] [--build-base <image>] [--push] [--print]
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
/** Has `node` on its PATH and a shell for the build. Its digest is looked up at each release, never written here. */
const NODE_IMAGE = 'docker.io/library/node:24-bookworm-slim';
const PINNED = /^[^\s@]+@sha256:[0-9a-f]{64}$/;

/** Thrown when an image reference has no digest and none can be found. */
export class UnpinnedImageError extends Error {
  readonly code = 'UNPINNED_IMAGE';

  constructor(image: string, why: string) {
    super(`${image} is not pinned: ${why}. Give it as name@sha256:<digest>`);
  }
}

/** Runs a program: its output, or undefined when it fails. */
export type Ask = (program: string, ...args: string[]) => string | undefined;

/** The reference with its digest. @throws UnpinnedImageError */
export function pin(image: string, ask: Ask): string {
  if (PINNED.test(image)) return image;
  if (image.includes('@')) throw new UnpinnedImageError(image, 'what stands after @ is no sha256 digest');
  const format = '{{.Manifest.Digest}}';
  const digest = ask('docker', 'buildx', 'imagetools', 'inspect', '--format', format, image)?.trim();
  if (digest === undefined) throw new UnpinnedImageError(image, 'docker buildx cannot look it up');
  const pinned = `${image}@${digest}`;
  if (!PINNED.test(pinned)) throw new UnpinnedImageError(image, `"${digest}" is no digest`);
  return pinned;
}

/** The arguments of docker for a build from pinned images, with SBOM and provenance. @throws UnpinnedImageError */
export function buildArguments(
  options: { tag: string; base: string; buildBase: string; version: string; push: boolean },
  ask: Ask,
): string[] {
  const revision = ask('git', 'rev-parse', 'HEAD')?.trim() ?? 'unknown';
  const values = {
    BASE_IMAGE: pin(options.base, ask),
    BUILD_IMAGE: pin(options.buildBase, ask),
    VERSION: options.version,
    REVISION: revision,
    // Files of the same commit get the same times, so that the same commit gives the same layers.
    SOURCE_DATE_EPOCH: ask('git', 'log', '-1', '--format=%ct')?.trim() ?? '0',
  };
  const buildArgs = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const kind = ['buildx', 'build', '--sbom=true', '--provenance=mode=max', '--tag', options.tag];
  return [...kind, ...buildArgs, options.push ? '--push' : '--load', '.'];
}

function run(program: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

const USAGE = `usage: npm run image -- --tag <name:tag> [--base <image>] [--build-base <image>] [--push] [--print]

  --tag         what the image is called, with its registry
  --base        the image that it runs on, as name@sha256:<digest>; a name alone is looked up (${NODE_IMAGE})
  --build-base  the one that it is built on, likewise
  --push        push it; it is loaded into docker otherwise
  --print       only print the command of docker
`;

function main(): number {
  let read;
  try {
    read = parseArgs({
      options: {
        tag: { type: 'string' },
        base: { type: 'string', default: NODE_IMAGE },
        'build-base': { type: 'string', default: NODE_IMAGE },
        push: { type: 'boolean', default: false },
        print: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { values } = read;
  const { tag, base, push, print } = values;
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (tag === undefined) {
    process.stderr.write(`--tag is missing\n\n${USAGE}`);
    return 2;
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  try {
    const args = buildArguments({ tag, base, buildBase: values['build-base'], version, push }, run);
    if (print) process.stdout.write(`docker ${args.join(' ')}\n`);
    else return spawnSync('docker', args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
    return 0;
  } catch (error) {
    if (!(error instanceof UnpinnedImageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

if (import.meta.main) process.exitCode = main();
