import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../api/install.ts';
import { run } from '../support/run.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-completion-'));
  mkdirSync(join(folder, 'examples of mine'));
  writeFileSync(join(folder, 'examples.txt'), '');
  for (const shell of SHELLS) {
    const { stdout } = await run(process.execPath, [
      join(ROOT, 'src', 'cli', 'main.ts'),
      'completion',
      shell,
    ]);
    writeFileSync(join(folder, `script.${shell}`), stdout);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function installed(shell: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((each) => existsSync(join(each, shell)));
}

/** What bash offers for the last word, as Readline hands the words over. */
async function bash(...words: string[]): Promise<string[]> {
  const program = `source script.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_boxwright
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout, stderr } = await run('bash', ['-c', program, 'bash', 'boxwright', ...words], {
    cwd: folder,
  });
  // compopt works within Readline only, and says so.
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

/** What fish offers after a line, without the descriptions. */
async function fish(line: string): Promise<string[]> {
  const program = `source script.fish; complete -C "${line}"`;
  const { stdout, stderr } = await run('fish', ['--no-config', '-c', program], { cwd: folder });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => each.split('\t')[0] ?? '');
}

/** Presses the tab key twice in a zsh of its own, and answers what its screen shows. */
async function zsh(line: string): Promise<string> {
  const program = `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "cd '${folder}'; TERM=dumb; PS1=; autoload -Uz compinit; compinit -u -D; LISTMAX=1000; source script.zsh; zstyle ':completion:*' list-prompt ''"
zpty -w inner 'echo set-up''-done'
zpty -r -m inner seen '*set-up-done*'
zpty -n -w inner '${line}'$'\\t\\t'
zpty -n -w inner $'\\x15'
zpty -w inner 'echo the''-end'
zpty -r -m inner seen '*the-end*'
print -r -- $seen
zpty -d inner`;
  const { stdout, stderr } = await run('zsh', ['-f', '-c', program], { timeoutMs: 60_000 });
  expect(stderr).toBe('');
  return stdout;
}

describe('in bash', () => {
  it.each([
    [['s'], ['sandbox', 'status']],
    [
      ['version', '-'],
      ['--output', '-o', '--help', '-h'],
    ],
    [
      ['dev', '--ex'],
      ['--examples', '--exit'],
    ],
    [
      ['version', '--output', ''],
      ['text', 'json'],
    ],
    [['version', '-o', 'j'], ['json']],
    [['version', '--output', '=', 'j'], ['json']],
    [
      ['version', '--output', '='],
      ['text', 'json'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '--help', '-h'],
    ],
    [['help', 'op'], ['operator']],
    [['dev', '--examples', 'ex'], ['examples of mine']],
    [['dev', '--kubeconfig', 'examples.'], ['examples.txt']],
    [['dev', '--namespace', ''], []],
    [['nothing', ''], []],
  ])('%j is completed to %j', async (words, offered) => {
    expect(await bash(...words)).toEqual(offered);
  });
});

describe.skipIf(!installed('fish'))('in fish', () => {
  it('commands, flags and values are completed', async () => {
    expect(await fish('boxwright sand')).toEqual(['sandbox']);
    expect(await fish('boxwright dev --ex')).toEqual(['--examples', '--exit']);
    expect((await fish('boxwright version --output ')).toSorted()).toEqual(['json', 'text']);
    expect(await fish('boxwright help op')).toEqual(['operator']);
  });
});

describe.skipIf(!installed('zsh'))('in zsh', { timeout: 200_000 }, () => {
  it('commands, flags and values are completed', async () => {
    expect(await zsh('boxwright sand')).toContain('sandbox');
    const flags = await zsh('boxwright version --');
    for (const flag of ['--output', '--help']) expect(flags).toContain(flag);
    expect(await zsh('boxwright version --output=j')).toContain('json');
  });
});
