/** What each exit code means; the help texts and the docs print this table. */
export const EXIT_CODES = [
  { code: 0, name: 'ok', meaning: 'done, or ended in good order when told to' },
  { code: 1, name: 'failed', meaning: 'failed; standard error says why and what to do' },
  { code: 2, name: 'usage', meaning: 'unknown command or flag, or a value that cannot be used' },
  {
    code: 3,
    name: 'findings',
    meaning: 'done, and the answer is no: something is not Ready, is wrong, or would change',
  },
  { code: 130, name: 'interrupted', meaning: 'ended by ^C before it was done' },
  { code: 143, name: 'terminated', meaning: 'ended by SIGTERM before it was done' },
] as const;

/** The codes by name. */
export const EXIT = Object.fromEntries(EXIT_CODES.map(({ name, code }) => [name, code])) as Readonly<
  Record<(typeof EXIT_CODES)[number]['name'], number>
>;

/** Thrown for a mistake on the command line; the message names the flag, the value and what to write. */
export class UsageError extends Error {
  readonly code = 'Usage';
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Thrown when a command cannot do what it was asked; the message says what to do next. */
export class CommandFailedError extends Error {
  readonly code = 'CommandFailed';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CommandFailedError';
  }
}
