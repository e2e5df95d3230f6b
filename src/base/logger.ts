/**
 * What any part may ask of a log: a fields object and a constant message, the shape of a pino logger, which
 * satisfies this as it is. Passed as an argument like the clock.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: object): Logger;
}

/** Drops everything; the default of parts that are used alone, and of tests. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
