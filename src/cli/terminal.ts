import { stripVTControlCharacters } from 'node:util';

/** The part of a terminal or file stream that is written to. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Puts colours around text, or leaves it as it is. */
export interface Paint {
  green(text: string): string;
  yellow(text: string): string;
  red(text: string): string;
  bold(text: string): string;
  dim(text: string): string;
}

/**
 * Colours for a stream: on a terminal only, and not when `NO_COLOR` is set to anything (no-color.org) or the
 * terminal is a dumb one.
 */
export function paintFor(stream: OutputStream, env: Readonly<Record<string, string | undefined>>): Paint {
  const plain = stream.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const style =
    (open: number, close: number) =>
    (text: string): string =>
      plain ? text : `\u001b[${open}m${text}\u001b[${close}m`;
  return {
    green: style(32, 39),
    yellow: style(33, 39),
    red: style(31, 39),
    bold: style(1, 22),
    dim: style(2, 22),
  };
}

type Env = Readonly<Record<string, string | undefined>>;

/** Columns where nothing says how many there are. */
const USUAL_WIDTH = 100;
/** Below that a line holds no sentence: better that the terminal breaks it. */
const LEAST_WIDTH = 40;

/** How wide running text may be: as the terminal is, or as `COLUMNS` says, else 100. */
export function textWidth(stream: OutputStream, env: Env): number {
  const told = Number(env['COLUMNS'] ?? '');
  return Math.max(LEAST_WIDTH, stream.columns ?? (Number.isInteger(told) && told > 0 ? told : USUAL_WIDTH));
}

/** How wide a table may be: as the terminal is; a program that reads it gets every column whole. */
export function tableWidth(stream: OutputStream, env: Env): number {
  return stream.isTTY === true || (env['COLUMNS'] ?? '') !== ''
    ? textWidth(stream, env)
    : Number.POSITIVE_INFINITY;
}

/** Text in lines of at most `width`, broken at spaces; a longer word keeps a line of its own. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && longer.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = longer;
      }
    }
    return [...lines, line];
  });
}

/**
 * What others wrote, safe to print: no control character of it reaches the terminal, line breaks and tabs are spaces.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '');
}
