import type { DesiredFile } from './variables.ts';

/** A file with such content as tests declare it; `now` is what it holds when it is taken in hand. */
export function testFile(
  path: string,
  content: string,
  { now = content, ...more }: Partial<DesiredFile> & { now?: string } = {},
): DesiredFile {
  return {
    path,
    fileName: path.split('.').at(-1) ?? path,
    hmac: `key:${content}`,
    hashOf: (bytes) => `key:${Buffer.from(bytes).toString()}`,
    contentType: 'text/x-shellscript',
    open: () => Promise.resolve({ kind: 'found', bytes: Buffer.from(now), release: () => undefined }),
    ...more,
  };
}

/** The content of a file as text. */
export async function textOf(file: DesiredFile | undefined): Promise<string> {
  const content = await file?.open(new AbortController().signal);
  return content?.kind === 'found' ? Buffer.from(content.bytes).toString() : (content?.message ?? 'no file');
}
