import type { Clock, Random } from '../base/clock.ts';
import type { FlagTable, FlagValues } from './flags.ts';
import type { Interrupt } from './interrupt.ts';
import type { OutputStream } from './terminal.ts';

/** What a command has of the world. */
export interface CliIo {
  stdout: OutputStream;
  stderr: OutputStream;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  random: Random;
  interrupt: Interrupt;
  /** What a person calls us by. @default boxwright */
  program?: string;
}

/** A command whose flags are known. */
export interface CommandDefinition<T extends FlagTable = FlagTable> {
  flags: T;
  /** The word that the command takes beside its flags, or the words. */
  argument?: CommandArgument;
  /** Stands under the flags in the help text. */
  notes?: string;
  /** Resolves with the exit code. Throws UsageError for what is wrong with the flags together. */
  run(values: FlagValues<T>, io: CliIo, words: readonly string[]): Promise<number>;
}

/** A word without a flag. */
export interface CommandArgument {
  name: string;
  description: string;
  /** Absent: any word. */
  choices?: readonly string[];
  /** The command does something without it too. */
  optional?: true;
  /** It may be given several times. */
  several?: true;
}

/** An argument as help texts write it: `<name>`, `[name]`, `[name...]`. */
export function argumentTerm({ name, optional, several }: CommandArgument): string {
  const dots = several === true ? '...' : '';
  return optional === true ? `[${name}${dots}]` : `<${name}${dots}>`;
}

/** A command as the program lists it; its definition is loaded when it is the one that was called. */
export interface CommandEntry {
  name: string;
  summary: string;
  load: () => Promise<CommandDefinition>;
}

/** Hides the flags' types from the list of commands: what `run` gets was read by its own table. */
export function defineCommand<T extends FlagTable>(definition: CommandDefinition<T>): CommandDefinition {
  return definition;
}
