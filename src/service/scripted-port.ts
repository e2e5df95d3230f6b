import type { PortAnswer, PortRequest, ServicePort } from './port.ts';

/** What the script says to one request: an answer, an error to reject with, or a promise of either. */
export type Line = PortAnswer | Error | Promise<PortAnswer>;

/** A {@link ServicePort} for tests: answers by a function and remembers every request. */
export class ScriptedPort implements ServicePort {
  readonly requests: PortRequest[] = [];
  readonly #script: (request: PortRequest, index: number) => Line;

  constructor(script: (request: PortRequest, index: number) => Line) {
    this.#script = script;
  }

  send(request: PortRequest): Promise<PortAnswer> {
    this.requests.push(request);
    const line = this.#script(request, this.requests.length - 1);
    const answer = line instanceof Error ? Promise.reject(line) : Promise.resolve(line);
    const { signal } = request;
    if (signal === undefined) return answer;
    return new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      answer.then(resolve, reject);
    });
  }
}

/** An answer with a JSON body. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): PortAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** An answer with a body as it is. */
export function raw(
  status: number,
  body: string | Uint8Array = '',
  headers: Record<string, string> = {},
): PortAnswer {
  return { status, headers, body: Buffer.from(body) };
}

/** What the promise rejects with; for expectations on promises that are not awaited at once. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
