import { defineCommand } from '../../command.ts';
import { EXIT, UsageError } from '../../exit-codes.ts';
import type { FlagTable } from '../../flags.ts';
import { paintFor } from '../../terminal.ts';
import { FORMAT_FLAG } from '../flags.ts';

const VALIDATE_FLAGS = {
  files: {
    flag: '-f, --filename <path>',
    env: 'BOXWRIGHT_FILENAME',
    type: 'list',
    atLeastOne: true,
    description: 'a manifest, or a folder with all below it (repeatable, or with commas)',
  },
  namespace: {
    flag: '-n, --namespace <name>',
    env: 'BOXWRIGHT_NAMESPACE',
    type: 'text',
    default: 'default',
    description: 'namespace of what names none',
  },
  strict: {
    flag: '--strict [boolean]',
    env: 'BOXWRIGHT_STRICT',
    type: 'boolean',
    default: false,
    description: 'a warning counts as an error: the files have everything that they refer to',
  },
  output: FORMAT_FLAG,
} as const satisfies FlagTable;

/** `boxwright validate`. */
export const validateCommand = defineCommand({
  flags: VALIDATE_FLAGS,
  notes: `
Checks manifests without a cluster: the schema and the rules that the API server has, fields and annotations that do not
exist, references within the files, and values for variables that a box does not have. What is not in the files may be
in the cluster: that is a warning.
  boxwright validate -f deploy/
  boxwright validate -f deploy/ --strict -o json
Exit code 3 means that there is an error.`,
  async run({ files, namespace, strict, output }, io) {
    if (files === undefined)
      throw new UsageError('-f is missing: give a manifest or a folder with manifests');
    const [{ validate }, { validationLines, validationObject }, { writeLines, writeObject }] =
      await Promise.all([import('./validate.ts'), import('./report.ts'), import('../output.ts')]);
    const validation = validate(files, namespace);
    if (output === 'text') writeLines(io, validationLines(validation, paintFor(io.stdout, io.env)));
    else writeObject(io, output, validationObject(validation));
    const { findings } = validation;
    return findings.some(({ severity }) => strict || severity === 'error') ? EXIT.findings : EXIT.ok;
  },
});
