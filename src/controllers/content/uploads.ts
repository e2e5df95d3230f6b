import type { Priority } from '../../base/priority.ts';
import { ServiceError, type BlobRecord, type Write } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { DesiredFile } from './variables.ts';

/** More files than a resource can have: those that it had before are forgotten. */
const KEPT = 250;

/** What a file's blob is known as. */
export interface Uploaded {
  hmac: string;
  /** As answered; only `url` after a restart. */
  blob: BlobRecord;
  /** The service has taken a record that names it. */
  wasTaken?: boolean;
}

/** Files uploaded by this process, by path, until status says so. */
export type Uploads = Map<string, Uploaded>;

/** Finds the blob of a file: from this process, else from what status says was uploaded. */
export function blobOf(
  file: DesiredFile,
  uploads: Uploads,
  noted: (path: string) => { hmac: string; url: string } | undefined,
): BlobRecord | undefined {
  const own = uploads.get(file.path);
  if (own?.hmac === file.hmac) return own.blob;
  const old = noted(file.path);
  return old?.hmac === file.shown ? { url: old.url } : undefined;
}

/** A record that names them was taken. */
export function noteTaken(uploads: Uploads): void {
  for (const one of uploads.values()) one.wasTaken = true;
}

/**
 * A record that names blobs was refused: whatever the words, they may be gone, as after a restore of the service, and
 * are uploaded again with the next try. Answers whether that is worth a try at once: some are not of this try.
 */
export function forgetRefused(files: readonly DesiredFile[], uploads: Uploads): boolean {
  const wasOld = files.some(({ path }) => uploads.get(path)?.wasTaken !== false);
  uploads.clear();
  return wasOld;
}

/** What of a pass an upload needs. */
export interface Uploading {
  handle: ConnectionHandle;
  memory: { uploads: Uploads };
  priority: Priority;
  signal: AbortSignal;
}

/** Uploads one file. A blob whose answer was lost stays behind: there is no delete (service-behaviour.md 4). */
export async function upload(
  { handle, memory: { uploads }, priority, signal }: Uploading,
  file: DesiredFile,
): Promise<Write<BlobRecord>> {
  const content = await file.open(signal);
  if (content.kind === 'missing') return notSent(content.message);
  let write: Write<BlobRecord>;
  try {
    if (file.hashOf(content.bytes) !== file.hmac)
      return notSent(`${file.path} has changed since it was looked at`);
    const { fileName: name, contentType } = file;
    const sent = { name, bytes: content.bytes, contentType };
    write = await handle.client.blobs.uploadRaw(sent, { priority, signal });
  } finally {
    content.release();
  }
  if (write.kind === 'ok' && write.record !== undefined) {
    uploads.delete(file.path);
    uploads.set(file.path, { hmac: file.hmac, blob: write.record, wasTaken: false });
    const [oldest] = uploads.keys();
    if (uploads.size > KEPT && oldest !== undefined) uploads.delete(oldest);
  }
  return write;
}

/**
 * Uploads what a create names, as far as it is not there. Answers what the create comes to where one is not taken: it was
 * not sent, and whatever became of the upload, it can be made again.
 */
export async function uploadFirst(
  uploading: Uploading,
  files: readonly (DesiredFile | undefined)[],
): Promise<Exclude<Write<never>, { kind: 'ok' }> | undefined> {
  const { uploads } = uploading.memory;
  for (const file of files) {
    if (file === undefined || uploads.get(file.path)?.hmac === file.hmac) continue;
    const write = await upload(uploading, file);
    if (write.kind === 'refused') return write;
    if (write.kind !== 'ok') return { kind: 'notSent', error: write.error };
  }
  return undefined;
}

function notSent(detail: string): Write<BlobRecord> {
  const template = '/services/blobs/upload/{file_name}';
  return {
    kind: 'notSent',
    error: new ServiceError({ code: 'ContentChanged', method: 'POST', template, detail }),
  };
}
