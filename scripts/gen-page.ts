/**
 * Writes src/sandbox/page/client.generated.ts: style, script and icon of the page of the embedded service, made of
 * src/sandbox/page/client. As text of a module they are there wherever the program is: run from source, bundled, in
 * the image. `--check` writes nothing and exits 1 when it is stale.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { settle } from './generated.ts';

const folder = join(import.meta.dirname, '..', 'src', 'sandbox', 'page');
const source = (name: string): string => join(folder, 'client', name);

async function bundled(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source(name)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    // Browsers of the last two years: light-dark(), dialog, nesting.
    target: ['chrome125', 'firefox126', 'safari17.5'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text.trim() ?? '';
}

const constant = (name: string, text: string): string => `export const ${name} = ${JSON.stringify(text)};\n`;

const content = [
  '// Generated from src/sandbox/page/client by scripts/gen-page.ts: edit there.\n',
  constant('STYLE', await bundled('page.css')),
  constant('SCRIPT', await bundled('main.ts')),
  constant('ICON', readFileSync(source('page.svg'), 'utf8').trim()),
].join('\n');

process.exitCode = await settle(
  folder,
  '.generated.ts',
  new Map([['client.generated.ts', content]]),
  process.argv.includes('--check'),
);
