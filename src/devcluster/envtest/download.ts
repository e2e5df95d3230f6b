import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { ProgressStep } from '../progress.ts';
import { EnvtestError } from './errors.ts';
import type { PublishedArchive } from './published.ts';
import { get, type WebOptions } from './web.ts';

/** A build takes no longer. */
const LIMIT_MS = 600_000;
/** About ten times what an archive has. */
const LARGEST_ARCHIVE = 1024 * 1024 * 1024;
const MIB = 1024 * 1024;

/** Writes an archive to `file` once and checks it. Throws {@link EnvtestError}, or the signal's reason. */
export async function downloadArchive(
  { name, url, hash }: PublishedArchive,
  file: string,
  web: WebOptions,
  step: ProgressStep,
): Promise<void> {
  const digest = createHash('sha512');
  await get(url, LIMIT_MS, web, async ({ body, length }) => {
    const total = length === undefined ? '' : ` of ${Math.ceil(length / MIB)}`;
    let size = 0;
    const checked = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > LARGEST_ARCHIVE) throw new EnvtestError(`${name} is larger than 1 GiB`);
        digest.update(chunk);
        step.detail(`${Math.floor(size / MIB)}${total} MiB`);
        yield chunk;
      }
    };
    await pipeline(checked, createWriteStream(file));
  });
  const found = digest.digest('hex');
  if (found === hash) return;
  throw new EnvtestError(
    `${name} from ${url.host} is not what the list says: SHA-512 ${found.slice(0, 16)}…, not ${hash.slice(0, 16)}…`,
  );
}
