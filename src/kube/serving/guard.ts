import type { IncomingMessage } from 'node:http';

/** Whether a request is answered, and if not, with what. */
export type Verdict = { kind: 'allowed' } | Refusal;

export interface Refusal {
  kind: 'refused';
  /**
   * 401: nobody known asks; 403: somebody known who may not; 429: too many unknown ones at once; 500, 503: it
   * cannot be found out, for good or for now.
   */
  status: 401 | 403 | 429 | 500 | 503;
  /** One line for whoever asks. Says nothing of what was shown or looked up. */
  text: string;
  headers?: Readonly<Record<string, string>>;
}

/** Decides who is answered. Whatever goes wrong in it is a refusal, never an answer. */
export interface Guard {
  judge(request: IncomingMessage): Promise<Verdict>;
}

export const ALLOWED: Verdict = { kind: 'allowed' };
