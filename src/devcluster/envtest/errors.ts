/** Thrown when a published archive cannot be had; the programs are built instead, and the message says why. */
export class EnvtestError extends Error {
  readonly code = 'Envtest';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EnvtestError';
  }
}
