import type { BlobRecord } from '../models/common.ts';
import type { CallOptions, Read, Write } from '../results.ts';

/** A file to be uploaded. */
export interface Upload {
  name: string;
  bytes: Uint8Array;
  /** @default 'application/octet-stream' */
  contentType?: string | undefined;
}

/** Blobs (interface document section 4.3). There is no delete. */
export interface Blobs {
  /** `POST /services/blobs/upload/{file_name}` with the bytes as the body (service-behaviour.md 4). */
  uploadRaw(upload: Upload, options?: CallOptions): Promise<Write<BlobRecord>>;
  /** `POST /services/blobs/upload`, multipart with the one part `blob`. */
  uploadMultipart(upload: Upload, options?: CallOptions): Promise<Write<BlobRecord>>;
  /** `url` is a blob record's; any other path is refused without a call. */
  download(url: string, options?: CallOptions): Promise<Read<Uint8Array>>;
}
