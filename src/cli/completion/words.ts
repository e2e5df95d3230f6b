import type { CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { completedCommands, type CompletedCommand, type CompletedFlag } from './model.ts';

/** Directives of the protocol that kubectl reads (cobra, `ShellCompDirective`): with files, without. */
const WITH_FILES = ':0';
const WITHOUT_FILES = ':4';

/** Answers kubectl, which asks what may follow the words of a plugin. */
export async function printWords(words: readonly string[], { stdout }: CliIo): Promise<number> {
  const { COMMANDS } = await import('../commands.ts');
  stdout.write(completeWords(await completedCommands(COMMANDS), words));
  return EXIT.ok;
}

/**
 * What may follow the words of a command line, the last of them unfinished: one candidate a line, with its description
 * after a tab, and the directive at the end.
 */
export function completeWords(commands: readonly CompletedCommand[], words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  const [called] = words;
  if (words.length <= 1)
    return answer(
      commands.map(({ name, summary }) => [name, summary]),
      last,
    );
  const command = commands.find(({ name }) => name === called);
  if (command === undefined) return answer([], last);
  const [, assigned = '', begun] = /^(--[^=]+)=(.*)$/.exec(last) ?? [];
  if (begun !== undefined) {
    const { offered, directive } = valuesOf(flagOf(command, assigned));
    return answer(
      offered.map((value) => [`${assigned}=${value}`, '']),
      last,
      directive,
    );
  }
  const before = flagOf(command, words.at(-2) ?? '');
  if (before !== undefined && before.value !== 'no') {
    const { offered, directive } = valuesOf(before);
    return answer(
      offered.map((value) => [value, '']),
      last,
      directive,
    );
  }
  if (last.startsWith('-')) {
    return answer(
      command.flags.flatMap(({ long, short, description }): Candidate[] =>
        [long, ...(short === undefined ? [] : [short])].map((each) => [each, description]),
      ),
      last,
    );
  }
  return answer(
    command.words.map((word) => [word, '']),
    last,
  );
}

type Candidate = readonly [word: string, description: string];

function flagOf({ flags }: CompletedCommand, word: string): CompletedFlag | undefined {
  return flags.find(({ long, short }) => long === word || short === word);
}

function valuesOf(flag: CompletedFlag | undefined): { offered: readonly string[]; directive: string } {
  const isPath = flag?.value === 'file' || flag?.value === 'directory';
  return { offered: flag?.words ?? [], directive: isPath ? WITH_FILES : WITHOUT_FILES };
}

function answer(candidates: readonly Candidate[], begun: string, directive = WITHOUT_FILES): string {
  const lines = candidates
    .filter(([word]) => word.startsWith(begun))
    .map(([word, description]) => (description === '' ? word : `${word}\t${description}`));
  return [...lines, directive, ''].join('\n');
}
