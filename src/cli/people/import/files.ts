import { Priority } from '../../../base/priority.ts';
import type { Service } from '../service.ts';
import type { KnownValues } from './known-values.ts';
import { textOf, type Contents, type ContentSource } from './contents.ts';

/** Such content belongs into a Secret. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY/;

/** Files that the service keeps, read from there. */
export class Files {
  readonly #client: Service['client'];
  readonly #signal: AbortSignal;
  readonly #values: KnownValues;

  /** `values`: what may stand in no file. */
  constructor({ client }: Pick<Service, 'client'>, signal: AbortSignal, values: KnownValues) {
    this.#values = values;
    this.#client = client;
    this.#signal = signal;
  }

  /** Reads a file and finds a place for it. */
  async place(
    contents: Contents,
    key: string,
    url: string,
    where: 'any' | 'configMap' = 'any',
  ): Promise<{ source: ContentSource } | { problem: string }> {
    const read = await this.#read(url);
    return 'problem' in read ? read : contents.place(key, read.bytes, where);
  }

  /** The same for File variables, which may hold what is secret. */
  of(
    contents: Contents,
  ): (
    key: string,
    url: string,
  ) => Promise<{ source: ContentSource } | { secret: true } | { problem: string }> {
    return async (key, url) => {
      const read = await this.#read(url);
      if ('problem' in read) return read;
      const isSecret = PRIVATE_KEY.test(textOf(read.bytes) ?? '');
      return isSecret ? { secret: true } : contents.place(key, read.bytes);
    };
  }

  async #read(url: string): Promise<{ bytes: Uint8Array } | { problem: string }> {
    const read = await this.#client.blobs.download(url, {
      signal: this.#signal,
      priority: new Priority('edit'),
    });
    if (read.kind === 'found') {
      if (!this.#values.standIn(Buffer.from(read.record).toString('utf8'))) return { bytes: read.record };
      return {
        problem: 'the value of a Password, or of the credentials of the Connection, stands in its file',
      };
    }
    const why = read.kind === 'missing' ? 'the service answers 404' : read.error.message;
    return { problem: `its file cannot be read: ${why}` };
  }
}
