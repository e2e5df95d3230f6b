import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** As GitHub makes it of a heading. */
function anchorsOf(page: string): Set<string> {
  const headings = textOf(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each(PAGES)('%s links to files and headings that there are', (page) => {
  // A link may be broken over two lines, and code may look like one.
  const prose = textOf(page)
    .replaceAll(/^ *```[^]*?^ *```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const broken = [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    });
  expect(broken).toEqual([]);
});

test.each(PAGES)('%s names scripts of npm that there are', (page) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = [...textOf(page).matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test.each(PAGES.filter((page) => /^[A-Z]+\.md|^docs\/guides/.test(page)))(
  '%s has nobody run TypeScript by a Node of their own',
  (page) => {
    expect(textOf(page)).not.toMatch(/(?<!npx )\bnode (scripts|src|test)\//);
  },
);
