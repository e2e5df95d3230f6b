import type { Ask, Shown } from '../ask.ts';
import type { ProviderDoc } from '../../model.ts';
import { html } from '../html.ts';
import { link, mono, pathOf, state, time } from '../pieces.ts';
import { providersOf } from '../visible.ts';
import { listPage } from './list.ts';

export function providerList(ask: Ask): Shown {
  return listPage<ProviderDoc>(
    {
      section: 'providers',
      title: 'Providers',
      one: 'provider',
      many: 'providers',
      rows: providersOf(ask),
      id: ({ id }) => id,
      sort: 'name',
      hint: 'Name, id, type …',
      text: ({ id, name, type, owner, description }) =>
        [id, name, type, owner, description].join(' ').toLowerCase(),
      facets: [
        { name: 'state', title: 'State', of: (row) => row.state, as: 'tabs' },
        { name: 'type', title: 'Type', of: (row) => row.type, as: 'select' },
        { name: 'owner', title: 'Owner', of: (row) => row.owner, as: 'select' },
      ],
      columns: [
        {
          name: 'name',
          title: 'Name',
          sort: (row) => row.name.toLowerCase(),
          cell: (row) =>
            html`${link(pathOf('providers', row.id), row.name)} <small class="mono">${row.id}</small>`,
        },
        { name: 'state', title: 'State', sort: (row) => row.state, cell: (row) => state(row.state) },
        { name: 'type', title: 'Type', sort: (row) => row.type, cell: (row) => row.type, look: 'mid' },
        { name: 'owner', title: 'Owner', sort: (row) => row.owner, cell: (row) => row.owner, look: 'mid' },
        {
          name: 'services',
          title: 'Services',
          cell: (row) => row.services.map((entry) => String(entry['name'])).join(', '),
          look: 'wide',
        },
        {
          name: 'updated',
          title: 'Updated (UTC)',
          sort: (row) => row.updated,
          cell: (row) => mono(time(row.updated)),
          look: 'wide',
        },
      ],
      empty: html`<p>No provider is shared with you.</p>
        <p>A provider is an account of a cloud. Register one with <code>POST /services/providers</code>.</p>`,
    },
    ask.query,
  );
}
