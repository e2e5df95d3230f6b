import { defineCommand } from '../../command.ts';
import { UsageError } from '../../exit-codes.ts';
import type { FlagTable } from '../../flags.ts';
import { CLUSTER_FLAGS, FORMAT_FLAG } from '../flags.ts';
import { CONNECTION_FLAG, ENDPOINT_FLAG } from '../service.ts';

const IMPORT_FLAGS = {
  folder: {
    flag: '-o, --output <folder>',
    env: 'BOXWRIGHT_OUTPUT',
    type: 'text',
    description: 'where the files go: an empty folder, or one that does not exist',
  },
  overwrite: {
    flag: '--overwrite [boolean]',
    env: 'BOXWRIGHT_OVERWRITE',
    type: 'boolean',
    default: false,
    description: 'overwrite the files of an earlier import; git diff then shows what has changed',
  },
  workspace: {
    flag: '--workspace <id>',
    env: 'BOXWRIGHT_WORKSPACE',
    type: 'text',
    defaultText: 'that of the Connection',
    description: 'id of the workspace whose records are imported',
  },
  kinds: {
    flag: '--kind <kinds>',
    env: 'BOXWRIGHT_KIND',
    type: 'list',
    default: ['box', 'policybox', 'instance'],
    choices: ['box', 'policybox', 'instance'],
    atLeastOne: true,
    description: 'kinds to import (repeatable, or with commas)',
  },
  name: {
    flag: '--name <glob>',
    env: 'BOXWRIGHT_NAME',
    type: 'text',
    default: '*',
    description: 'only records with such a name on the service: * is any text, ? one character',
  },
  connection: CONNECTION_FLAG,
  endpoint: ENDPOINT_FLAG,
  ...CLUSTER_FLAGS,
  report: { ...FORMAT_FLAG, flag: '--report <format>', env: 'BOXWRIGHT_REPORT' },
} as const satisfies FlagTable;

/** `boxwright import`. */
export const importCommand = defineCommand({
  flags: IMPORT_FLAGS,
  notes: `
Writes manifests of what exists on the service, for Git. It reads with the rights of your user, and changes nothing. Each
manifest adopts its record, so applying them creates nothing, runs no operation, and puts nothing on the service but the
operator's marker, a tag on each instance.
  boxwright import -o deploy/
  boxwright import --kind instance --name 'web-*' -o web/
  kubectl apply -k deploy/
Manifests refer to each other by name, scripts are inline or in ConfigMaps, and passwords are references to Secrets that
you make. IMPORT.md lists these, and everything that the manifests do not say.`,
  async run({ folder, overwrite, workspace, kinds, name, connection, endpoint, report, ...flags }, io) {
    if (folder === undefined) throw new UsageError('-o is missing: name the folder for the manifests');
    const [{ withCluster }, { importInto, readKinds }] = await Promise.all([
      import('../cluster.ts'),
      import('./run.ts'),
    ]);
    const wanted = {
      folder,
      overwrite,
      workspace,
      kinds: readKinds(kinds),
      name,
      connection,
      endpoint,
      report,
    };
    return withCluster(flags, io, (cluster) => importInto(wanted, cluster, io));
  },
});
