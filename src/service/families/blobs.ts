import type { Caller } from '../call/caller.ts';
import { ServiceError } from '../errors.ts';
import type { Decoders } from './decoders.ts';
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
  /** `url` is a blob record's; any other path is refused without a call. */
  download(url: string, options?: CallOptions): Promise<Read<Uint8Array>>;
}

/** Of the record of a blob, bytes: it is kept for as long as status does not say where the file is. */
const RECORD_BYTES = 16_384;

const downloadTemplate = '/services/blobs/download/{file_id}/{file_name}';

export function createBlobs(caller: Caller, decoders: Decoders): Blobs {
  return {
    uploadRaw: ({ name, bytes, contentType }, options) =>
      caller.write(
        {
          method: 'POST',
          template: '/services/blobs/upload/{file_name}',
          params: { file_name: name },
          body: { bytes, contentType: mediaType(contentType) },
          maxBytes: RECORD_BYTES,
        },
        decoders.blob,
        options,
      ),
    download: async (url, options) => {
      const params = splitDownload(url);
      if (params === undefined) {
        const detail = 'not a download path of the service';
        return {
          kind: 'unknown',
          error: new ServiceError({ code: 'BadId', method: 'GET', template: downloadTemplate, detail }),
        };
      }
      return caller.read(
        { method: 'GET', template: downloadTemplate, params, isText: true },
        (answer) => answer.body,
        options,
      );
    },
  };
}

/** The two last parts of a blob's `url`, decoded; undefined for a path of another form. */
function splitDownload(url: string): { file_id: string; file_name: string } | undefined {
  const match = /^\/services\/blobs\/download\/([^/?#]+)\/([^/?#]+)$/.exec(url);
  if (match === null) return undefined;
  try {
    return { file_id: decodeURIComponent(match[1] ?? ''), file_name: decodeURIComponent(match[2] ?? '') };
  } catch {
    // Not percent-encoded after all: the name holds a bare percent sign.
    return { file_id: match[1] ?? '', file_name: match[2] ?? '' };
  }
}

function mediaType(given: string | undefined): string {
  return given !== undefined && /^[\x20-\x7e]{3,256}$/.test(given) ? given : 'application/octet-stream';
}
