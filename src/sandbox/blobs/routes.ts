import { Type } from 'typebox';
import { param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, notFound, Refusal } from '../http.ts';
import { ANY_TYPE, downloadOf, MEDIA_TYPE } from './download.ts';
import { parseMultipart } from './multipart.ts';
import { blobUrl } from './url.ts';
import { canSeeBlob } from './visibility.ts';

/** service-behaviour.md 4: 10 MB for a file. */
export const MAX_BLOB_BYTES = 10_000_000;

const MAX_NAME = 255;

const BlobRecord = Type.Object({
  url: Type.String({ examples: ['/services/blobs/download/0123456789abcdef01234567/install.sh'] }),
  length: Type.Integer({ minimum: 0 }),
  upload_date: Type.String(),
  content_type: Type.String(),
});

function store(call: Call, name: string, type: string, content: Uint8Array): Outcome {
  const { service } = call;
  if (!MEDIA_TYPE.test(type)) throw badRequest(`Content-Type: ${JSON.stringify(type)} is not a media type`);
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
    account: call.caller.account,
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
      return store(call, file.filename, file.contentType ?? ANY_TYPE, file.content);
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
    handler: (call) => {
      const type = call.headers['content-type'] ?? '';
      // An empty file is one that says what it is.
      if (call.raw.length === 0 && type === '')
        throw badRequest('there is no body: send the file as the body');
      return store(call, param(call, 'file_name'), type || ANY_TYPE, call.raw);
    },
  },
  {
    method: 'GET',
    path: '/services/blobs/download/{file_id}/{file_name}',
    summary: 'Read a stored file',
    success: 200,
    errors: [400],
    // Whatever it was uploaded as.
    text: '*/*',
    handler: (call) => {
      const id = param(call, 'file_id');
      if (!/^[0-9a-f]{24}$/.test(id)) throw badRequest(`file_id: "${id}" is not an id of 24 hex digits`);
      const blob = call.service.store.blobs.get(id);
      const content = blob === undefined ? undefined : call.service.store.content.get(blob.id);
      const named = blob?.name === param(call, 'file_name');
      if (
        blob === undefined ||
        content === undefined ||
        !named ||
        !canSeeBlob(call.service, call.caller, blob)
      ) {
        throw notFound(`there is no file ${id} of that name`);
      }
      return { kind: 'bytes', bytes: content, ...downloadOf(blob) };
    },
  },
];
