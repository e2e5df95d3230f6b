import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../../Dockerfile');

/** How the image runs Node: its arguments before the program, and its variables. */
export function imageSettings(): { nodeArgs: string[]; env: Record<string, string> } {
  const text = readFileSync(DOCKERFILE, 'utf8');
  const [, entry = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(text) ?? [];
  const words = JSON.parse(entry) as string[];
  const nodeArgs = words.slice(1).filter((word) => word.startsWith('-'));
  const variables = [...text.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => line.split(' '));
  const env = Object.fromEntries(variables.map((each) => each.split('=') as [string, string]));
  return { nodeArgs, env };
}
