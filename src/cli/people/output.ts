import { stringify } from 'yaml';
import type { CliIo } from '../command.ts';

/** Writes an outcome for programs. */
export function writeObject(io: CliIo, format: string, object: object): void {
  io.stdout.write(
    format === 'yaml' ? stringify(object, { lineWidth: 0 }) : `${JSON.stringify(object, null, 2)}\n`,
  );
}

/** Writes lines for people. */
export function writeLines(io: CliIo, lines: readonly string[]): void {
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
