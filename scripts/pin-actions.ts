/**
 * Pins the actions of .github/workflows to commits: what stands behind `#` is the tag that is meant, what stands
 * behind `@` the commit that it has, asked of the action's own repository. `--check` changes nothing and exits 1
 * when an action is not pinned. No commit is ever made up: what cannot be asked stays as it is, and is refused.
 *
 * Usage: node scripts/pin-actions.ts [--check]
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WORKFLOWS = join(import.meta.dirname, '..', '.github', 'workflows');
const USES = /^(\s*(?:- )?uses: )([^\s@]+)@(\S+)(?: # (\S+))?\s*$/;
const COMMIT = /^[0-9a-f]{40}$/;

/** An action that a workflow uses. */
export interface Use {
  line: number;
  /** Such as actions/checkout. */
  action: string;
  ref: string;
  /** The tag that is meant. */
  tag: string | undefined;
}

/** The commit of a tag of an action's repository, or undefined when it cannot be had. */
export type CommitOf = (action: string, tag: string) => string | undefined;

/** Every action that a workflow uses, those of this repository aside. */
export function usesOf(workflow: string): Use[] {
  return workflow.split('\n').flatMap((text, at) => {
    const [, , action, ref, tag] = USES.exec(text) ?? [];
    if (action === undefined || ref === undefined || action.startsWith('./')) return [];
    return [{ line: at + 1, action, ref, tag }];
  });
}

/** What is wrong with a use, or undefined when it is pinned and says to what. */
export function objection({ action, ref, tag }: Use): string | undefined {
  if (!COMMIT.test(ref)) return `${action} is not pinned to a commit: run node scripts/pin-actions.ts`;
  return tag === undefined ? `${action} does not say which tag its commit is: write it behind #` : undefined;
}

/** The workflow with each action at the commit of its tag; what cannot be asked stays as it is. */
export function pinned(workflow: string, commitOf: CommitOf): string {
  const lines = workflow.split('\n');
  for (const { line, action, tag } of usesOf(workflow)) {
    const commit = tag === undefined ? undefined : commitOf(action, tag);
    if (commit === undefined || !COMMIT.test(commit)) continue;
    lines[line - 1] = (lines[line - 1] ?? '').replace(USES, `$1$2@${commit} # ${tag}`);
  }
  return lines.join('\n');
}

/** Asks the action's repository. An annotated tag has its commit in a line of its own, `<tag>^{}`. */
function askGit(action: string, tag: string): string | undefined {
  const repository = action.split('/').slice(0, 2).join('/');
  const refs = [`refs/tags/${tag}`, `refs/tags/${tag}^{}`];
  const asked = spawnSync('git', ['ls-remote', `https://github.com/${repository}`, ...refs], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
  });
  return asked.status === 0 ? commitIn(asked.stdout) : undefined;
}

/** The commit in what `git ls-remote` lists of a tag: the last line, which is the peeled one where there is one. */
export function commitIn(listing: string): string | undefined {
  return listing.trim().split('\n').at(-1)?.split('\t')[0] || undefined;
}

function main(check: boolean): number {
  let unpinned = 0;
  for (const name of readdirSync(WORKFLOWS).toSorted()) {
    const path = join(WORKFLOWS, name);
    if (!check) writeFileSync(path, pinned(readFileSync(path, 'utf8'), askGit));
    for (const use of usesOf(readFileSync(path, 'utf8'))) {
      const problem = objection(use);
      if (problem === undefined) continue;
      process.stderr.write(`.github/workflows/${name}:${use.line}: ${problem}\n`);
      unpinned += 1;
    }
  }
  return unpinned === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(process.argv.includes('--check'));
