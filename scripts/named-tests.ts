import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test that a table names: its file, and its title where that is told. */
export interface NamedTest {
  file: string;
  title: string | undefined;
}

const ROOT = join(import.meta.dirname, '..');
const TEST = /`([^`]+\.test\.ts)`(?: “([^”]+)”)?/g;

/** The rows of a table of so many columns, by cells, but for its head and its headings. */
export function rowsOf(text: string, columns: number): string[][] {
  return text
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length === columns + 2)
    .map((cells) => cells.slice(1, -1))
    .filter(
      (cells, at) =>
        at > 0 && !cells.every((cell) => /^-*$/.test(cell)) && !/^\*\*.*\*\*$/.test(cells[0] ?? ''),
    );
}

/** The tests that a cell names. */
export function testsIn(cell: string): NamedTest[] {
  return Array.from(cell.matchAll(TEST), ([, file = '', title]) => ({ file, title }));
}

/** Those of them that there are not. */
export function missing(tests: readonly NamedTest[]): NamedTest[] {
  return tests.filter(({ file, title }) => {
    const path = join(ROOT, file);
    return !existsSync(path) || (title !== undefined && !readFileSync(path, 'utf8').includes(title));
  });
}
