/** The part of a terminal or file stream that is written to. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
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
