import { badRequest } from '../http.ts';

export interface Part {
  name: string;
  filename: string | undefined;
  contentType: string | undefined;
  content: Uint8Array;
}

/** RFC 2046 section 5.1.1. */
const MAX_BOUNDARY = 70;
/** Of the headers of one part, bytes. */
const MAX_HEAD = 16_384;

const CRLF = Buffer.from('\r\n');
const GAP = Buffer.from('\r\n\r\n');

/** The parts of a multipart/form-data body (RFC 7578). @throws Refusal 400 when it is not well formed */
export function parseMultipart(contentType: string, body: Uint8Array): Part[] {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw badRequest('Content-Type: multipart/form-data needs a boundary');
  if (mark.length > MAX_BOUNDARY)
    throw badRequest(`Content-Type: the boundary has more than ${MAX_BOUNDARY} characters`);
  const data = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`--${mark}`);
  const end = Buffer.concat([CRLF, delimiter]);
  const parts: Part[] = [];
  let at = data.indexOf(delimiter);
  while (at !== -1) {
    const start = at + delimiter.length;
    if (data.subarray(start, start + 2).toString() === '--') return parts;
    const next = data.indexOf(end, start);
    const gap = data.indexOf(GAP, start);
    if (next === -1 || gap === -1 || gap > next) break;
    if (gap - start > MAX_HEAD) throw badRequest('the headers of a part are too long');
    parts.push(readPart(data.subarray(start, gap).toString('utf8'), data.subarray(gap + 4, next)));
    at = next + 2;
  }
  throw badRequest('the multipart body ends too early: the closing boundary is missing');
}

function readPart(head: string, content: Uint8Array): Part {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get('content-disposition') ?? '';
  return {
    name: /;\s*name="([^"]*)"/i.exec(disposition)?.[1] ?? '',
    filename: fileName(disposition),
    contentType: headers.get('content-type'),
    content,
  };
}

function fileName(disposition: string): string | undefined {
  const extended = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      throw badRequest('the filename* of the part is not percent-encoded UTF-8');
    }
  }
  const quoted = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1];
  if (quoted !== undefined) return quoted.replaceAll('%22', '"').replaceAll(/\\(.)/g, '$1');
  return /;\s*filename=([^;\s"]+)/i.exec(disposition)?.[1];
}
