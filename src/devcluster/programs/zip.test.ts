import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readZipEntry, ZipError } from './zip.ts';

interface Entry {
  name: string;
  content: Buffer;
  method: 0 | 8;
}

/** An archive as `zip` writes it, with extra fields of different lengths in local headers and directory. */
function archive(entries: readonly Entry[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, method } of entries) {
    const packed = method === 8 ? deflateRawSync(content) : content;
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    shared.writeUInt16LE(4, 24);
    const local = Buffer.concat([
      Buffer.from('PK\u0003\u0004'),
      shared,
      Buffer.from(name),
      Buffer.alloc(4),
      packed,
    ]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    shared.writeUInt16LE(8, 24);
    directory.push(
      Buffer.concat([
        Buffer.from('PK\u0001\u0002\u0014\u0003'),
        shared,
        tail,
        Buffer.from(name),
        Buffer.alloc(8),
      ]),
    );
    parts.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\u0005\u0006'), end, Buffer.from(comment)]);
}

const text = Buffer.from('a program '.repeat(1_000));
const entries: Entry[] = [
  { name: 'bin/', content: Buffer.alloc(0), method: 0 },
  { name: 'bin/stored', content: Buffer.from('as it is'), method: 0 },
  { name: 'bin/deflated', content: text, method: 8 },
];

describe('readZipEntry', () => {
  it.each([
    ['stored', Buffer.from('as it is')],
    ['deflated', text],
  ])('reads a %s file', (name, content) => {
    expect(readZipEntry(archive(entries), `bin/${name}`)).toEqual(content);
  });

  it('finds the directory in front of a comment', () => {
    expect(readZipEntry(archive(entries, 'made by hand'), 'bin/stored').toString()).toBe('as it is');
  });

  it.each([
    ['a file that is not in it', archive(entries), 'bin/other', 'holds no bin/other'],
    ['something that is no archive', Buffer.from('<html>'.repeat(10)), 'bin/stored', 'not a zip archive'],
    ['an empty file', Buffer.alloc(0), 'bin/stored', 'not a zip archive'],
  ])('refuses %s', (_what, given, path, message) => {
    expect(() => readZipEntry(given, path)).toThrow(ZipError);
    expect(() => readZipEntry(given, path)).toThrow(message);
  });
});
