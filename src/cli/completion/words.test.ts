import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { completedCommands, type CompletedCommand } from './model.ts';
import { completeWords } from './words.ts';

let commands: readonly CompletedCommand[] = [];
beforeAll(async () => void (commands = await completedCommands(COMMANDS)));

function offered(...words: string[]): string[] {
  return completeWords(commands, words)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '');
}

describe('the words of a plugin of kubectl', () => {
  it.each([
    [['sta'], ['status', ':4']],
    [
      ['status', '--wat'],
      ['--watch', ':4'],
    ],
    [
      ['status', '-o', ''],
      ['text', 'json', 'yaml', ':4'],
    ],
    [
      ['status', '--output=j'],
      ['--output=json', ':4'],
    ],
    [['status', '--kubeconfig', ''], [':0']],
    [['status', '-n', ''], [':4']],
    [['nothing', ''], [':4']],
    [
      ['help', 'stat'],
      ['status', ':4'],
    ],
  ])('%j are completed to %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  it('come with what they mean', () => {
    expect(completeWords(commands, ['statu'])).toMatch(/^status\tshow resources as a tree/);
  });
});
