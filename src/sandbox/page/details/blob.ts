import { blobUrl } from '../../blobs/url.ts';
import { canSeeBlob } from '../../blobs/visibility.ts';
import type { Ask, Shown } from '../ask.ts';
import { html } from '../html.ts';
import { boxPath } from '../lists/boxes.ts';
import { facts, link, mono, nothing, part, table, time } from '../pieces.ts';
import { boxesOf } from '../visible.ts';
import { blobUses, sizeText, textOf } from './blob-uses.ts';
import { columns, detailPage, missing } from './detail.ts';

/** One file: what it says, and which boxes refer to it. */
export function blobDetail(ask: Ask): Shown {
  const { service, caller, params } = ask;
  const found = service.store.blobs.get(params['id'] ?? '');
  const blob = found !== undefined && canSeeBlob(service, caller, found) ? found : undefined;
  const content = blob === undefined ? undefined : service.store.content.get(blob.id);
  if (blob === undefined || content === undefined) {
    return missing('blobs', 'Blobs', 'blob', params['id'] ?? '');
  }
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
