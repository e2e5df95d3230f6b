import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../../base/clock.ts';
import type { WebhookAnswer, WebhookCall, WebhookResult } from './webhooks.ts';

export interface WebhookSettings {
  /** Host names that may be called; `*` allows all. */
  hosts: readonly string[];
  /** For one try, milliseconds. */
  timeoutMs: number;
  /** Tries for one call, one second apart. */
  tries: number;
}

export const DEFAULT_WEBHOOKS: WebhookSettings = {
  hosts: ['127.0.0.1', 'localhost', '[::1]'],
  timeoutMs: 10_000,
  tries: 3,
};

const MAX_ANSWER = 1_000_000;
const PAUSE_MS = 1_000;

/** Calls webhooks: JSON in and out, no redirects, only hosts that are allowed. */
export class WebhookCaller {
  readonly #settings: WebhookSettings;
  readonly #clock: Clock;
  readonly #stopped: AbortSignal;

  constructor(settings: WebhookSettings, clock: Clock, stopped: AbortSignal) {
    this.#settings = settings;
    this.#clock = clock;
    this.#stopped = stopped;
  }

  /** One after the other, so that a receiver sees the machines in order. Never rejects but when stopped. */
  async callAll(calls: readonly WebhookCall[]): Promise<WebhookResult> {
    const answers: WebhookAnswer[] = [];
    for (const call of calls) answers.push(await this.#call(call));
    return answers;
  }

  async #call(call: WebhookCall): Promise<WebhookAnswer> {
    const { url, machine } = call;
    const failed = (text: string): WebhookAnswer => ({
      url,
      machine,
      answer: undefined,
      text: `webhook for ${machine}: ${text}`,
    });
    const target = URL.canParse(url) ? new URL(url) : undefined;
    if (target === undefined || !['http:', 'https:'].includes(target.protocol)) {
      return failed('its URL is not an http or https one');
    }
    const { hosts, tries } = this.#settings;
    if (!hosts.includes('*') && !hosts.includes(target.hostname)) {
      return failed(`host ${target.hostname} is not allowed by the settings of the sandbox`);
    }
    let last = '';
    for (let n = 1; n <= tries; n++) {
      if (n > 1) await this.#clock.sleep(PAUSE_MS, this.#stopped);
      try {
        const answer = parse(await this.#once(target, call));
        return { url, machine, answer, text: `webhook for ${machine} answered` };
      } catch (error) {
        if (this.#stopped.aborted) throw error;
        last = error instanceof Error ? error.message : String(error);
      }
    }
    return failed(`no answer in ${tries} tries (${last})`);
  }

  #once(target: URL, call: WebhookCall): Promise<{ status: number; text: string }> {
    const body = JSON.stringify(call.body);
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const outgoing = send(
        target,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          signal: this.#stopped,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          let length = 0;
          incoming.on('data', (chunk: Buffer) => {
            length += chunk.length;
            if (length > MAX_ANSWER) outgoing.destroy(new Error('the answer is too long'));
            else chunks.push(chunk);
          });
          incoming.on('error', reject);
          incoming.on('end', () => {
            timer.cancel();
            resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
          });
        },
      );
      const timer = this.#clock.setTimer(this.#settings.timeoutMs, () => {
        outgoing.destroy(new Error(`nothing within ${this.#settings.timeoutMs} ms`));
      });
      outgoing.on('error', (error) => {
        timer.cancel();
        reject(error);
      });
      outgoing.end(body);
    });
  }
}

function parse({ status, text }: { status: number; text: string }): Record<string, unknown> {
  if (status < 200 || status >= 300) throw new Error(`it answered ${status}`);
  const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('it answered no JSON object');
  }
  return value as Record<string, unknown>;
}
