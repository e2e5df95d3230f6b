import type { Ask, Shown } from '../ask.ts';
import type { WorkspaceDoc } from '../../model.ts';
import { html } from '../html.ts';
import { link, mono, pathOf, tag, time } from '../pieces.ts';
import { workspacesOf } from '../visible.ts';
import { listPage } from './list.ts';

export function workspaceList(ask: Ask): Shown {
  const { store } = ask.service;
  return listPage<WorkspaceDoc>(
    {
      section: 'workspaces',
      title: 'Workspaces',
      one: 'workspace',
      many: 'workspaces',
      rows: workspacesOf(ask),
      id: ({ id }) => id,
      sort: 'name',
      hint: 'Name, id, owner …',
      text: ({ id, name, owner, email }) => [id, name, owner, email].join(' ').toLowerCase(),
      facets: [
        { name: 'kind', title: 'Kind', of: (row) => row.kind, as: 'tabs', known: ['personal', 'team'] },
        { name: 'owner', title: 'Owner', of: (row) => row.owner, as: 'select' },
      ],
      columns: [
        {
          name: 'name',
          title: 'Name',
          sort: (row) => row.name.toLowerCase(),
          cell: (row) =>
            html`${link(pathOf('workspaces', row.id), row.name)} <small class="mono">${row.id}</small>`,
        },
        { name: 'kind', title: 'Kind', sort: (row) => row.kind, cell: (row) => tag(row.kind) },
        { name: 'owner', title: 'Owner', sort: (row) => row.owner, cell: (row) => row.owner, look: 'mid' },
        {
          name: 'members',
          title: 'Members',
          sort: (row) => row.members.length,
          cell: (row) => row.members.length,
          look: 'num mid',
        },
        {
          name: 'boxes',
          title: 'Boxes',
          sort: (row) => store.boxes.by('owner', row.id).length,
          cell: (row) => store.boxes.by('owner', row.id).filter((box) => box.version === undefined).length,
          look: 'num mid',
        },
        {
          name: 'instances',
          title: 'Instances',
          sort: (row) => store.instances.by('owner', row.id).length,
          cell: (row) => store.instances.by('owner', row.id).length,
          look: 'num mid',
        },
        {
          name: 'created',
          title: 'Created (UTC)',
          sort: (row) => row.created,
          cell: (row) => mono(time(row.created)),
          look: 'wide',
        },
      ],
      empty: html`<p>You belong to no workspace.</p>
        <p>Make a team workspace with <code>POST /services/workspaces</code>.</p>`,
    },
    ask.query,
  );
}
