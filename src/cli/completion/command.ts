import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { completedCommands, type CompletedCommand } from './model.ts';
import { zshScript } from './zsh.ts';

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `boxwright completion`. */
export const completionCommand = defineCommand({
  flags: {},
  argument: { name: 'shell', description: 'the shell', choices: Object.keys(SHELLS) },
  notes: `
For the session:
  source <(boxwright completion bash)
  source <(boxwright completion zsh)
  boxwright completion fish | source
For good: put what it prints where the shell looks, such as ~/.local/share/bash-completion/completions/boxwright,
a folder of zsh’s fpath under the name _boxwright, or ~/.config/fish/completions/boxwright.fish.`,
  async run(_, { stdout }, [shell = '']) {
    const { COMMANDS } = await import('../commands.ts');
    // Commander has let no other shell pass.
    stdout.write(SHELLS[shell]?.(await completedCommands(COMMANDS)) ?? '');
    return EXIT.ok;
  },
});
