import { inflateRawSync } from 'node:zlib';

/** Thrown for an archive that is damaged or uses what {@link readZipEntry} does not read. */
export class ZipError extends Error {
  readonly code = 'Zip';
  constructor(message: string) {
    super(message);
    this.name = 'ZipError';
  }
}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_LENGTH = 22;

/**
 * The content of one file in a zip archive: stored or deflated, below 4 GB, without encryption.
 * Source of the layout: PKWARE's APPNOTE.TXT sections 4.3.7, 4.3.12 and 4.3.16. Throws {@link ZipError}.
 */
export function readZipEntry(archive: Buffer, path: string): Buffer {
  const end = findEndOfDirectory(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new ZipError('the zip directory is damaged');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === path) return readEntry(archive, at, path);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new ZipError(`the zip archive holds no ${path}`);
}

function readEntry(archive: Buffer, at: number, path: string): Buffer {
  const method = archive.readUInt16LE(at + 10);
  const compressedSize = archive.readUInt32LE(at + 20);
  const size = archive.readUInt32LE(at + 24);
  const local = archive.readUInt32LE(at + 42);
  if (archive.readUInt32LE(local) !== LOCAL_HEADER) throw new ZipError(`the zip entry ${path} is damaged`);
  // The local header has name and extra lengths of its own; its sizes may be zero, the directory's never are.
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + compressedSize);
  const content = unpack(method, packed, path);
  if (content.length !== size) {
    throw new ZipError(`the zip entry ${path} has ${content.length} bytes instead of ${size}`);
  }
  return content;
}

function unpack(method: number, packed: Buffer, path: string): Buffer {
  switch (method) {
    case 0:
      return packed;
    case 8:
      return inflateRawSync(packed);
    default:
      throw new ZipError(`the zip entry ${path} is packed by method ${method}: only 0 and 8 can be read`);
  }
}

function findEndOfDirectory(archive: Buffer): number {
  // A comment of up to 65,535 bytes may follow the record.
  const lowest = Math.max(0, archive.length - END_LENGTH - 0xffff);
  for (let at = archive.length - END_LENGTH; at >= lowest; at--) {
    if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new ZipError('this is not a zip archive: it has no end-of-directory record');
}
