/** What a script did. */
export interface ScriptResult {
  exitCode: number;
  output: string;
  /** It was ended because it took too long. */
  timedOut?: boolean;
}

/** Output beyond this is cut off, characters. */
const MAX_OUTPUT = 1_000_000;

const ECHO = /^echo\s(.*)$/;
const EXIT = /^exit(?:\s+(\d{1,3}))?\s*(?:#.*)?$/;

/**
 * What a script would do, without running it: lines that begin (in column one) with `echo` are its output,
 * quotes taken off and nothing expanded; the first line that is `exit N` in column one ends it with that code.
 * Everything else counts as a success.
 */
export function simulate(script: string): ScriptResult {
  const lines: string[] = [];
  let room = MAX_OUTPUT;
  for (const line of script.split(/\r?\n/)) {
    const exit = EXIT.exec(line);
    if (exit !== null) return { exitCode: Number(exit[1] ?? 0) & 0xff, output: lines.join('\n') };
    const echo = ECHO.exec(line)?.[1];
    if (echo === undefined || room <= 0) continue;
    lines.push(unquote(echo).slice(0, room));
    room -= echo.length;
  }
  return { exitCode: 0, output: lines.join('\n') };
}

function unquote(text: string): string {
  const trimmed = text.trim();
  const quoted = /^(["'])(.*)\1$/.exec(trimmed);
  return quoted?.[2] ?? trimmed;
}
