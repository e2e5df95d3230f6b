import type { Ask, Shown } from '../ask.ts';
import type { BlobDoc } from '../../model.ts';
import { html } from '../html.ts';
import { blobUses, sizeText } from '../details/blob-uses.ts';
import { link, mono, pathOf, time } from '../pieces.ts';
import { boxesOf } from '../visible.ts';
import { listPage } from './list.ts';

/** The files that the caller uploaded, and those that boxes which it sees refer to. */
export function blobList(ask: Ask): Shown {
  const { service, caller, query } = ask;
  const uses = blobUses(service, boxesOf(ask));
  const rows = service.store.blobs
    .all()
    .filter(({ id, account }) => account === caller.account || uses.has(id));
  return listPage<BlobDoc>(
    {
      section: 'blobs',
      title: 'Blobs',
      one: 'blob',
      many: 'blobs',
      rows,
      id: ({ id }) => id,
      sort: '-uploaded',
      hint: 'File name, id, type …',
      text: ({ id, name, content_type }) => [id, name, content_type].join(' ').toLowerCase(),
      facets: [{ name: 'type', title: 'Type', of: (row) => row.content_type, as: 'select' }],
      columns: [
        {
          name: 'name',
          title: 'File',
          sort: (row) => row.name.toLowerCase(),
          cell: (row) =>
            html`${link(pathOf('blobs', row.id), row.name)} <small class="mono">${row.id}</small>`,
        },
        {
          name: 'type',
          title: 'Type',
          sort: (row) => row.content_type,
          cell: (row) => row.content_type,
          look: 'mid',
        },
        {
          name: 'size',
          title: 'Size',
          sort: (row) => row.length,
          cell: (row) => sizeText(row.length),
          look: 'num',
        },
        {
          name: 'uses',
          title: 'Used by',
          sort: (row) => uses.get(row.id)?.length ?? 0,
          cell: (row) => uses.get(row.id)?.length ?? 0,
          look: 'num mid',
        },
        {
          name: 'uploaded',
          title: 'Uploaded (UTC)',
          sort: (row) => row.upload_date,
          cell: (row) => mono(time(row.upload_date)),
          look: 'wide',
        },
      ],
      empty: html`<p>You have uploaded no file, and no box of yours refers to one.</p>
        <p>
          Scripts of events and values of File variables are blobs. Make a
          ${link('/page/boxes/new', 'box with a script')}, or send
          <code>POST /services/blobs/upload/{file_name}</code>.
        </p>`,
    },
    query,
  );
}
