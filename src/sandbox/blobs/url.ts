import type { BlobDoc } from '../model.ts';
import type { Service } from '../service.ts';

/** The path under which a blob is read: the `url` of its record. */
export function blobUrl(blob: BlobDoc): string {
  return `/services/blobs/download/${blob.id}/${encodeURIComponent(blob.name)}`;
}

const URL_FORM = /^(?:https?:\/\/[^/]+)?\/?services\/blobs\/download\/([0-9a-f]{24})\/[^/]+$/;

/** The id in a download path, undefined when it is none. */
export function blobIdIn(url: string): string | undefined {
  return URL_FORM.exec(url)?.[1];
}

/** The stored blob behind a download path, undefined when it names none. */
export function blobByUrl(service: Service, url: string): BlobDoc | undefined {
  const id = blobIdIn(url);
  return id === undefined ? undefined : service.store.blobs.get(id);
}
