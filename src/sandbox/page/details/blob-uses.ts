import { blobByUrl } from '../../blobs/url.ts';
import type { BoxDoc } from '../../model.ts';
import type { Service } from '../../service.ts';

/** One place where a box refers to a file. */
export interface BlobUse {
  box: BoxDoc;
  /** Such as `event install` or `variable CONF`. */
  where: string;
}

/** Where these boxes refer to files, by the id of the file. */
export function blobUses(service: Service, boxes: readonly BoxDoc[]): Map<string, BlobUse[]> {
  const uses = new Map<string, BlobUse[]>();
  const add = (box: BoxDoc, where: string, url: unknown): void => {
    const blob = typeof url === 'string' && url !== '' ? blobByUrl(service, url) : undefined;
    if (blob === undefined) return;
    const known = uses.get(blob.id);
    if (known === undefined) uses.set(blob.id, [{ box, where }]);
    else known.push({ box, where });
  };
  for (const box of boxes) {
    add(box, 'icon', box.icon);
    for (const variable of box.variables) {
      if (variable.type === 'File') add(box, `variable ${variable.name}`, variable.value);
    }
    const events = Object.entries((box.fields['events'] ?? {}) as Record<string, { url?: unknown }>);
    for (const [event, file] of events) add(box, `event ${event}`, file.url);
    for (const name of ['dockerfile', 'readme']) {
      add(box, name, (box.fields[name] as { url?: unknown } | null | undefined)?.url);
    }
  }
  return uses;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Longer files are shown to this many characters; the whole of one can be downloaded. */
const MAX_SHOWN = 100_000;

/** The text of a file for somebody to read, undefined for one that is not text. */
export function textOf(bytes: Uint8Array): { text: string; cut: boolean } | undefined {
  const cut = bytes.byteLength > MAX_SHOWN;
  try {
    // A character that is cut in two at the end is no reason to call it binary.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, MAX_SHOWN), {
      stream: cut,
    });
    return text.includes('\0') ? undefined : { text, cut };
  } catch {
    return undefined;
  }
}
