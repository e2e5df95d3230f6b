import type { Help } from 'commander';
import { wrap } from './terminal.ts';

const INDENT = 2;
const GAP = 2;
/** A description narrower than this is hard to read: it goes under its term instead. */
const LEAST = 32;

/** An item of a help text: the description beside the term, or under it on a narrow terminal. */
export function formatItem(
  this: Help,
  term: string,
  termWidth: number,
  description: string,
  helper: Help,
): string {
  const margin = ' '.repeat(INDENT);
  if (description === '') return `${margin}${term}`;
  const width = helper.helpWidth ?? 80;
  const beside = width - INDENT - termWidth - GAP;
  if (beside < LEAST) {
    const under = ' '.repeat(INDENT + 4);
    return [`${margin}${term}`, ...wrap(description, width - under.length).map((line) => under + line)].join(
      '\n',
    );
  }
  const next = `\n${' '.repeat(INDENT + termWidth + GAP)}`;
  return `${margin}${term.padEnd(termWidth + GAP)}${wrap(description, beside).join(next)}`;
}

/**
 * Notes under a help text: paragraphs in lines of the width, whatever lines they are written in. Lines that begin with
 * two spaces are commands, or rows of two columns, and stay; a row that is too long goes on under its second column.
 */
export function wrapHelp(text: string, width: number): string {
  const lines: string[] = [];
  let paragraph = '';
  const flush = (): void => {
    if (paragraph !== '') lines.push(...wrap(paragraph, width));
    paragraph = '';
  };
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('  ') || line.endsWith(':')) {
      const isEnd = line.endsWith(':') && !line.startsWith('  ');
      if (isEnd) paragraph = paragraph === '' ? line : `${paragraph} ${line}`;
      flush();
      if (!isEnd) lines.push(...row(line, width));
    } else {
      paragraph = paragraph === '' ? line : `${paragraph} ${line}`;
    }
  }
  flush();
  return lines.join('\n');
}

function row(line: string, width: number): string[] {
  const second = /^ {2}\S+ {2,}/.exec(line)?.[0].length;
  if (line.length <= width || second === undefined) return [line];
  const [first = '', ...rest] = wrap(line.slice(second), width - second);
  return [line.slice(0, second) + first, ...rest.map((each) => ' '.repeat(second) + each)];
}
