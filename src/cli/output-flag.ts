import type { FlagRow } from './flags.ts';

/** The flag of every command that has an outcome for programs to read. */
export const OUTPUT_FLAG = {
  flag: '-o, --output <format>',
  env: 'BOXWRIGHT_OUTPUT',
  type: 'text',
  default: 'text',
  choices: ['text', 'json'],
  description: 'json: the outcome as one object on standard output, all else on standard error',
} as const satisfies FlagRow;
