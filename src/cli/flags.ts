import { InvalidArgumentError, Option, type Command } from 'commander';
import { InvalidDurationError, parseDuration } from '../base/duration.ts';

/** One flag, written once: options, help texts and docs are made from it. */
export interface FlagRow {
  /** As commander takes it: `--allowed-hosts <hosts>`. */
  flag: string;
  /** The environment variable that gives it when the command line does not. */
  env: string;
  /** How the text is read. A list may be given several times and with commas; a duration is `90s`, `8h`. */
  type: 'text' | 'number' | 'boolean' | 'list' | 'duration';
  /** In the type that the flag is read as (a duration as text). Absent: not set. */
  default?: string | number | boolean | readonly string[];
  /** What the help text says of the default where the value itself does not tell. */
  defaultText?: string;
  choices?: readonly string[];
  /** Of a list: an empty one is refused, since it would mean all instead of none. */
  atLeastOne?: true;
  description: string;
}

/** The flags of a command, by the name under which the command reads them. */
export type FlagTable = Readonly<Record<string, FlagRow>>;

interface ReadAs {
  text: string;
  number: number;
  boolean: boolean;
  list: readonly string[];
  /** Milliseconds. */
  duration: number;
}

/** What a command gets of its flags: a flag without a default may be undefined. */
export type FlagValues<T extends FlagTable> = {
  readonly [K in keyof T]: T[K] extends { default: unknown }
    ? ReadAs[T[K]['type']]
    : ReadAs[T[K]['type']] | undefined;
};

/** Adds the flags to a command of commander. */
export function addFlags(command: Command, table: FlagTable): void {
  for (const row of Object.values(table)) command.addOption(optionOf(row));
}

/** What the help text says of a flag: what it does, its choices, its default and its variable. */
export function describeFlag(row: FlagRow): string {
  const { choices, description, env } = row;
  const preset = defaultText(row);
  const facts = [
    ...(choices === undefined ? [] : [choices.join(' | ')]),
    ...(preset === undefined ? [] : [`default: ${preset}`]),
    `env: ${env}`,
  ];
  return `${description} (${facts.join(', ')})`;
}

/** The default for people; undefined when the flag is then not set. */
export function defaultText({ default: value, defaultText: text }: FlagRow): string | undefined {
  return text ?? (value === undefined ? undefined : defaultOf(value));
}

/** Reads the flags back, in the types of the table. */
export function readFlags<T extends FlagTable>(command: Command, table: T): FlagValues<T> {
  const given = command.opts<Record<string, unknown>>();
  const entries = Object.entries(table).map(([name, row]) => {
    const value = given[new Option(row.flag).attributeName()];
    // Commander hands defaults through unread.
    return [name, row.type === 'duration' && typeof value === 'string' ? parseDuration(value) : value];
  });
  // The parsers below make each value of its row's type.
  return Object.fromEntries(entries) as FlagValues<T>;
}

function optionOf(row: FlagRow): Option {
  const option = new Option(row.flag, row.description).env(row.env);
  if (row.default !== undefined) option.default(row.default);
  switch (row.type) {
    case 'text':
      return row.choices === undefined ? option : option.choices(row.choices);
    case 'number':
      return option.argParser(readNumber);
    case 'boolean':
      // A flag alone means yes.
      return option.argParser(readBoolean).preset('true');
    case 'duration':
      return option.argParser(readDuration);
    case 'list':
      return option.argParser((text, previous) => [
        ...(previous === row.default || !Array.isArray(previous) ? [] : (previous as string[])),
        ...readList(text, row.atLeastOne === true),
      ]);
    default:
      return row.type satisfies never;
  }
}

function defaultOf(value: NonNullable<FlagRow['default']>): string {
  if (typeof value === 'object') return value.length === 0 ? 'none' : value.join(',');
  return String(value);
}

function readList(text: string, atLeastOne: boolean): string[] {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (atLeastOne && parts.length === 0)
    throw new InvalidArgumentError('Write at least one, or leave it away.');
  return parts;
}

function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError('Write a whole number from 0 on.');
  }
  return value;
}

function readBoolean(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('Write true or false.');
}

function readDuration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof InvalidDurationError)) throw error;
    throw new InvalidArgumentError('Write a number and a unit (ms, s, m, h), such as 90s or 8h.');
  }
}
