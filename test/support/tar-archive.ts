import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** A file of an archive. */
export interface TarEntry {
  path: string;
  content?: string | Buffer;
  /** @default a plain file */
  type?: 'SymbolicLink';
  linkpath?: string;
}

/** A .tar.gz of `entries`, as they are: also of such as no program would pack. */
export function tarGz(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type, linkpath }) => {
    const data = Buffer.from(content);
    const block = Buffer.alloc(512);
    new Header({
      path,
      mode: 0o755,
      size: data.length,
      type: type ?? 'File',
      ...(linkpath === undefined ? {} : { linkpath }),
    }).encode(block);
    return [block, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1_024)]), { level: 1 });
}
