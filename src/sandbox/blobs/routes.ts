import { Type } from 'typebox';
import { param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, notFound, Refusal } from '../http.ts';
import type { BlobDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { parseMultipart } from './multipart.ts';

/** service-behaviour.md 4: 10 MB for a file. */
export const MAX_BLOB_BYTES = 10_000_000;

const MAX_NAME = 255;

const BlobRecord = Type.Object({
  url: Type.String({ examples: ['/services/blobs/download/0123456789abcdef01234567/install.sh'] }),
  length: Type.Integer({ minimum: 0 }),
  upload_date: Type.String(),
  content_type: Type.String(),
});

/** The path under which a blob is read: the `url` of its record. */
export function blobUrl(blob: BlobDoc): string {
  return `/services/blobs/download/${blob.id}/${encodeURIComponent(blob.name)}`;
}

const URL_FORM = /^(?:https?:\/\/[^/]+)?\/?services\/blobs\/download\/([0-9a-f]{24})\/[^/]+$/;

/** The stored blob behind a download path, undefined when it names none. */
export function blobByUrl(service: Service, url: string): BlobDoc | undefined {
  const id = URL_FORM.exec(url)?.[1];
  return id === undefined ? undefined : service.store.blobs.get(id);
}

function store(call: Call, name: string, type: string, content: Uint8Array): Outcome {
  const { service } = call;
  if (content.byteLength > MAX_BLOB_BYTES) {
    throw new Refusal(413, `the file has ${content.byteLength} bytes, at most ${MAX_BLOB_BYTES} are taken`);
  }
  const plain = name.split(/[/\\]/).at(-1) ?? '';
  if (plain === '' || plain === '.' || plain === '..') throw badRequest('the file needs a name');
  if (plain.length > MAX_NAME) throw badRequest(`the file name is longer than ${MAX_NAME} characters`);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(plain)) {
    throw badRequest('the file name holds control characters');
  }
  const blob = service.store.blobs.put({
    id: service.ids.blob(),
    name: plain,
    content_type: type,
    length: content.byteLength,
    upload_date: service.time.stamp(),
  });
  service.store.content.put(blob.id, content);
  const { length, upload_date, content_type } = blob;
  return { kind: 'json', value: { url: blobUrl(blob), length, upload_date, content_type } };
}

/** Interface document section 4.3. */
export const blobRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/services/blobs/upload',
    summary: 'Upload a file as multipart form data',
    success: 200,
    errors: [400],
    body: 'bytes',
    answer: BlobRecord,
    handler: (call) => {
      const type = call.headers['content-type'] ?? '';
      if (!/^multipart\/form-data\s*;/i.test(type)) {
        throw badRequest('Content-Type: send the file as multipart/form-data, or use upload/{file_name}');
      }
      const files = parseMultipart(type, call.raw).filter((part) => part.filename !== undefined);
      const [file] = files;
      if (file?.filename === undefined || files.length > 1) {
        throw badRequest(`the form holds ${files.length} files, exactly one is expected`);
      }
      return store(call, file.filename, file.contentType ?? 'application/octet-stream', file.content);
    },
  },
  {
    method: 'POST',
    path: '/services/blobs/upload/{file_name}',
    summary: 'Store the request body as a file of that name',
    success: 200,
    errors: [400],
    body: 'bytes',
    answer: BlobRecord,
    handler: (call) =>
      store(
        call,
        param(call, 'file_name'),
        call.headers['content-type'] || 'application/octet-stream',
        call.raw,
      ),
  },
  {
    method: 'GET',
    path: '/services/blobs/download/{file_id}/{file_name}',
    summary: 'Read a stored file',
    success: 200,
    errors: [400],
    text: 'application/octet-stream',
    handler: (call) => {
      const id = param(call, 'file_id');
      if (!/^[0-9a-f]{24}$/.test(id)) throw badRequest(`file_id: "${id}" is not an id of 24 hex digits`);
      const blob = call.service.store.blobs.get(id);
      const content = blob === undefined ? undefined : call.service.store.content.get(blob.id);
      if (blob === undefined || content === undefined || blob.name !== param(call, 'file_name')) {
        throw notFound(`there is no file ${id} of that name`);
      }
      return {
        kind: 'bytes',
        bytes: content,
        type: blob.content_type,
        headers: { 'x-content-type-options': 'nosniff' },
      };
    },
  },
];
