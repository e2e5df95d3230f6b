import { pino } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { redact } from './redact.ts';
import type { OutputStream } from './terminal.ts';

export interface LogOptions {
  level: string;
  /** @default json */
  format?: string;
  stream: OutputStream;
  clock: Clock;
}

/**
 * A pino logger that writes each line itself (no worker thread, so that the last line before an end is not
 * lost) and whose fields pass {@link redact}.
 */
export function createLog({ level, format, stream, clock }: LogOptions): Logger {
  const write = (line: string): void => void stream.write(format === 'text' ? asText(line) : line);
  const root = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
    },
    { write },
  );
  return withFields(root, {});
}

/** Pino does not pass the fields of its own children through the formatter, so they are added line by line. */
function withFields(root: Logger, bound: object): Logger {
  const all = (fields: object): object => ({
    ...bound,
    ...(fields instanceof Error ? { error: fields } : fields),
  });
  return {
    debug: (fields, message) => root.debug(all(fields), message),
    info: (fields, message) => root.info(all(fields), message),
    warn: (fields, message) => root.warn(all(fields), message),
    error: (fields, message) => root.error(all(fields), message),
    child: (fields) => withFields(root, all(fields)),
  };
}

/** `12:34:56.789 INFO message key=value …`, and a stack under it. */
function asText(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const stacks: string[] = [];
  const words = Object.entries(fields).map(([key, value]) => {
    if (typeof value === 'object' && value !== null && 'stack' in value) {
      stacks.push(String(value.stack));
      return `${key}=${JSON.stringify((value as { message?: unknown }).message ?? '')}`;
    }
    return `${key}=${wordOf(value)}`;
  });
  const head = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), String(msg), ...words];
  return [head.join(' '), ...stacks.map((stack) => stack.replaceAll(/^/gm, '    '))].join('\n') + '\n';
}

function wordOf(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@{}-]+$/.test(value)) return value;
  if (typeof value === 'number') return String(Math.round(value * 10) / 10);
  return JSON.stringify(value);
}
