/**
 * Writes the manifest by which krew installs the archive of a release as a plugin of kubectl.
 * Usage: node scripts/krew.ts <archive>
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { OLDEST_NODE } from '../src/cli/required-node.ts';
import { version } from '../src/cli/version.ts';

const RELEASES = 'https://github.com/boxwright/boxwright/releases/download';
const HOME = 'https://github.com/boxwright/boxwright';

/** The folder in the archive of a release. */
const FOLDER = 'boxwright';

/** The manifest of the plugin, for the archive with this hash. Source of the fields: krew, "Plugin manifest". */
export function krewManifest(archive: string, sha256: string): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'boxwright' },
    spec: {
      version: `v${version}`,
      homepage: HOME,
      shortDescription: 'See, check and steer the resources of Boxwright',
      description:
        'Shows the resources of the Boxwright operator as a tree with what each waits for, explains one in words, ' +
        'checks manifests without a cluster, and asks for operations. Works with the rights of its user.',
      caveats: `Needs Node.js ${OLDEST_NODE} or newer on PATH.`,
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
          uri: `${RELEASES}/v${version}/${archive}`,
          sha256,
          bin: 'boxwright.js',
          files: [{ from: `${FOLDER}/*`, to: '.' }],
        },
      ],
    },
  };
}

/** Writes the manifest beside the archive of a release, and answers its path. */
export function writeManifest(archive: string): string {
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex');
  const path = join(dirname(archive), 'boxwright.krew.yaml');
  writeFileSync(path, stringify(krewManifest(basename(archive), hash), { lineWidth: 0 }));
  return path;
}

if (import.meta.main) {
  const [, , archive] = process.argv;
  if (archive === undefined) throw new Error('usage: node scripts/krew.ts <archive>');
  writeManifest(archive);
}
