import { downloadOf } from '../../blobs/download.ts';
import { blobUrl } from '../../blobs/url.ts';
import { canSeeBlob } from '../../blobs/visibility.ts';
import type { BlobDoc } from '../../model.ts';
import type { Ask, Shown } from '../ask.ts';
import { html } from '../html.ts';
import { boxPath } from '../lists/boxes.ts';
import { facts, link, mono, nothing, part, pathOf, table, time } from '../pieces.ts';
import { boxesOf } from '../visible.ts';
import { blobUses, sizeText, textOf } from './blob-uses.ts';
import { columns, detailPage, missing } from './detail.ts';

/** The file of the path, undefined when the caller sees none. */
function blobOf({ service, caller, params }: Ask): { blob: BlobDoc; content: Uint8Array } | undefined {
  const blob = service.store.blobs.get(params['id'] ?? '');
  if (blob === undefined || !canSeeBlob(service, caller, blob)) return undefined;
  const content = service.store.content.get(blob.id);
  return content === undefined ? undefined : { blob, content };
}

const noBlob = ({ params }: Ask): Shown => missing('blobs', 'Blobs', 'blob', params['id'] ?? '');

/** The whole of a file, to be kept. */
export function blobFile(ask: Ask): Shown {
  const found = blobOf(ask);
  return found === undefined
    ? noBlob(ask)
    : { kind: 'file', bytes: found.content, ...downloadOf(found.blob) };
}

/** One file: what it says, and which boxes refer to it. */
export function blobDetail(ask: Ask): Shown {
  const { service } = ask;
  const found = blobOf(ask);
  if (found === undefined) return noBlob(ask);
  const { blob, content } = found;
  const text = textOf(content);
  const uses = (blobUses(service, boxesOf(ask)).get(blob.id) ?? []).map(({ box, where }) => [
    link(boxPath(box), box.name),
    where,
  ]);
  return detailPage({
    section: 'blobs',
    list: 'Blobs',
    name: blob.name,
    id: blob.id,
    actions: html`<a class="button" href="${pathOf('blobs', blob.id)}/file">Download</a>`,
    content: columns(
      html`${part(
        'content',
        'Content',
        text === undefined
          ? nothing('It is not text.')
          : html`<pre class="code" tabindex="0" aria-label="Content">${text.text}</pre>
              ${text.cut && nothing('It goes on; this is its beginning.')}`,
      )}`,
      html`${part(
        'facts',
        'Facts',
        facts([
          ['Size', sizeText(blob.length)],
          ['Type', blob.content_type],
          ['Uploaded', time(blob.upload_date)],
          ['Path', mono(blobUrl(blob))],
        ]),
      )}
      ${part(
        'users',
        'Who uses it',
        uses.length === 0 ? nothing('No box that you can see.') : table(['Box', 'As'], uses, 'Users'),
      )}`,
    ),
  });
}
