import type { Ask, Shown } from '../ask.ts';
import type { BoxDoc, InstanceDoc } from '../../model.ts';
import { html } from '../html.ts';
import { leaseText, link, mono, pathOf, state, time } from '../pieces.ts';
import { boxesIn, instancesOf } from '../visible.ts';
import { listPage } from './list.ts';

export const STATES = ['done', 'processing', 'unavailable'] as const;

export function instanceList(ask: Ask): Shown {
  const { service, query } = ask;
  const { revisions } = service.store;
  const now = service.time.now();
  const boxOf = ({ stack, box }: InstanceDoc): Pick<BoxDoc, 'name'> =>
    revisions.get(stack[0] ?? '')?.box ?? { name: box };
  const textOf = (instance: InstanceDoc): string => {
    const { id, name, owner, operation, tags } = instance;
    const words = (): string => {
      const policy = revisions.get(instance.policy)?.box;
      const boxes = [boxOf(instance).name, policy?.name, ...boxesIn(ask, instance)];
      return [id, name, owner, operation.event, ...boxes, ...tags].join(' ').toLowerCase();
    };
    return service.views.text('page-instance', instance, words);
  };
  return listPage<InstanceDoc>(
    {
      section: 'instances',
      title: 'Instances',
      one: 'instance',
      many: 'instances',
      rows: instancesOf(ask),
      id: ({ id }) => id,
      sort: '-updated',
      hint: 'Name, id, box, tag …',
      text: textOf,
      facets: [
        { name: 'state', title: 'State', of: (row) => row.state, as: 'tabs', known: STATES },
        { name: 'owner', title: 'Owner', of: (row) => row.owner, as: 'select' },
      ],
      columns: [
        {
          name: 'name',
          title: 'Name',
          sort: (row) => row.name.toLowerCase(),
          cell: (row) =>
            html`${link(pathOf('instances', row.id), row.name)} <small class="mono">${row.id}</small>
              <small class="small"
                >${row.operation.event} · ${row.owner} · ${leaseText(row.lease, now)}</small
              >`,
        },
        { name: 'state', title: 'State', sort: (row) => row.state, cell: (row) => state(row.state) },
        {
          name: 'operation',
          title: 'Operation',
          sort: (row) => row.operation.event,
          cell: (row) => html`<span class="line">${row.operation.event}</span>`,
          look: 'mid',
        },
        { name: 'owner', title: 'Owner', sort: (row) => row.owner, cell: (row) => row.owner, look: 'mid' },
        {
          name: 'box',
          title: 'Box',
          sort: (row) => boxOf(row).name.toLowerCase(),
          cell: (row) => link(pathOf('boxes', row.box), boxOf(row).name),
          look: 'mid',
        },
        {
          name: 'machines',
          title: 'Machines',
          sort: (row) => row.service.machines.length,
          cell: (row) => row.service.machines.length,
          look: 'num spare',
        },
        {
          name: 'lease',
          title: 'Lease',
          // Always on comes last: there is nothing to hurry for.
          sort: ({ lease }) => (lease?.released === false ? (lease.expire ?? '~') : '~'),
          cell: (row) => html`<span class="line">${leaseText(row.lease, now)}</span>`,
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
      empty: html`<p>There are no instances yet.</p>
        <p>
          An instance is a box that was deployed with a policy box. Open one of your
          <a href="/page/boxes">boxes</a> and press <b>Deploy</b>, or send
          <code>POST /services/instances</code>.
        </p>`,
    },
    query,
  );
}
