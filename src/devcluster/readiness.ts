import { Agent, request } from 'undici';
import type { Clock } from '../base/clock.ts';
import type { Credentials } from './pki/authority.ts';
import { ControlPlaneStartError } from './errors.ts';

export interface WaitOptions {
  clock: Clock;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Called before each look; throws when there is no use in looking any more. */
  check(): void;
}

/** Asks one API server for paths until it answers 200. Knows nothing else. */
export class ReadinessProbe {
  readonly #server: string;
  readonly #agent: Agent;

  constructor(server: string, ca: string, credentials: Credentials) {
    this.#server = server;
    this.#agent = new Agent({
      allowH2: false,
      connect: { ca, cert: credentials.cert, key: credentials.key, timeout: 2_000 },
      headersTimeout: 5_000,
      bodyTimeout: 5_000,
    });
  }

  /** Resolves once `path` answers 200. Throws {@link ControlPlaneStartError} after the time is over. */
  async waitFor(path: string, options: WaitOptions): Promise<void> {
    const deadline = options.clock.monotonic() + options.timeoutMs;
    for (;;) {
      options.check();
      const answer = await this.#look(path, options.signal);
      if (answer === undefined) return;
      if (options.clock.monotonic() >= deadline) {
        throw new ControlPlaneStartError(
          `${path} was not ready after ${options.timeoutMs / 1_000} s: ${answer.slice(0, 500)}`,
        );
      }
      await options.clock.sleep(100, options.signal);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Undefined when it answered 200, else what it said. */
  async #look(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const answer = await request(`${this.#server}${path}`, {
        dispatcher: this.#agent,
        ...(signal === undefined ? {} : { signal }),
      });
      const body = await answer.body.text();
      return answer.statusCode === 200 ? undefined : `${answer.statusCode} ${body}`;
    } catch (error) {
      signal?.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    }
  }
}
