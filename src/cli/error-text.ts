/** What is wrong, and what is behind it; a stack only for what nobody foresaw. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = isForeseen(error) ? error.message : (error.stack ?? error.message);
  return error.cause instanceof Error ? `${own}\n  because: ${errorText(error.cause)}` : own;
}

/** Errors of this program, and of the system, have a code. */
export function isForeseen(error: unknown): error is Error & { code: string } {
  return error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
}
