import type { Ask, Section, Shown } from '../ask.ts';
import { versionsOf, versionText } from '../../boxes/versions.ts';
import type { BoxDoc } from '../../model.ts';
import { html, type Html } from '../html.ts';
import { link, mono, pathOf, tag, time } from '../pieces.ts';
import { boxesOf, instancesOf, usesOf } from '../visible.ts';
import { listPage, type Column } from './list.ts';
import type { Facet } from './pick.ts';

/** Whether a box says where something is deployed instead of what. */
export const isPolicy = ({ kind }: BoxDoc): boolean => kind === 'policy';

/** Where a box is shown: the versions of a box beside it. */
export const boxPath = (box: BoxDoc): string => pathOf(isPolicy(box) ? 'policy-boxes' : 'boxes', box.id);

/** Where a policy box deploys; "" for other boxes. */
export function providerId({ fields }: BoxDoc): string {
  const id = fields['provider_id'];
  return typeof id === 'string' ? id : '';
}

const newBox = (type: string, text: string): Html =>
  html`<a class="button primary" href="/page/boxes/new?type=${type}">${text}</a>`;

export function boxList(ask: Ask): Shown {
  const versions = versionColumn(ask);
  return boxesPage(ask, {
    section: 'boxes',
    title: 'Boxes',
    rows: boxesOf(ask).filter((box) => !isPolicy(box) && box.version === undefined),
    own: [
      { name: 'type', title: 'Type', sort: (row) => row.kind, cell: (row) => tag(row.kind), look: 'mid' },
      versions,
    ],
    actions: newBox('script', 'New box'),
    empty: html`<p>There are no boxes yet.</p>
      <p>
        A box says what is installed: variables, and scripts for its events.
        ${link('/page/boxes/new', 'Make one')}.
      </p>`,
  });
}

export function policyBoxList(ask: Ask): Shown {
  const { providers } = ask.service.store;
  const providerOf = (box: BoxDoc): string => {
    const id = providerId(box);
    return providers.get(id)?.name ?? id;
  };
  return boxesPage(ask, {
    section: 'policy-boxes',
    title: 'Policy boxes',
    rows: boxesOf(ask).filter((box) => isPolicy(box) && box.version === undefined),
    own: [{ name: 'provider', title: 'Provider', sort: providerOf, cell: providerOf, look: 'mid' }],
    actions: newBox('policy', 'New policy box'),
    empty: html`<p>There are no policy boxes yet.</p>
      <p>
        A policy box says where something is deployed: a provider and a profile.
        ${link('/page/boxes/new?type=policy', 'Make one')} for the Test Provider.
      </p>`,
  });
}

const BY_TYPE: Facet<BoxDoc> = { name: 'type', title: 'Type', of: (row) => row.kind, as: 'select' };
const FACETS: readonly Facet<BoxDoc>[] = [
  { name: 'visibility', title: 'Visible to', of: (row) => row.visibility, as: 'select' },
  { name: 'owner', title: 'Owner', of: (row) => row.owner, as: 'select' },
];

interface Boxes {
  section: Section;
  title: string;
  rows: readonly BoxDoc[];
  own: readonly Column<BoxDoc>[];
  actions: Html;
  empty: Html;
}

function versionColumn({ service }: Ask): Column<BoxDoc> {
  const versions = (row: BoxDoc): readonly BoxDoc[] => service.store.boxes.by('base', row.id);
  const newest = (row: BoxDoc): string => {
    if (versions(row).length === 0) return '–';
    const number = versionsOf(service, row)[0]?.version?.number;
    return number === undefined ? '–' : versionText(number);
  };
  return {
    name: 'versions',
    title: 'Version',
    sort: (row) => versions(row).length,
    cell: newest,
    look: 'wide',
  };
}

function boxesPage(ask: Ask, { section, title, rows, own, actions, empty }: Boxes): Shown {
  const uses = usesOf(ask, instancesOf(ask));
  return listPage<BoxDoc>(
    {
      section,
      title,
      one: title.toLowerCase().replace(/es$/, ''),
      many: title.toLowerCase(),
      rows,
      id: ({ id }) => id,
      sort: '-updated',
      hint: 'Name, id, description …',
      text: (box) =>
        ask.service.views.text('page-box', box, () =>
          [
            box.id,
            box.name,
            box.owner,
            box.kind,
            box.description,
            box.fields['requirements'],
            box.fields['claims'],
          ]
            .flat()
            .join(' ')
            .toLowerCase(),
        ),
      facets: section === 'boxes' ? [BY_TYPE, ...FACETS] : FACETS,
      columns: [
        {
          name: 'name',
          title: 'Name',
          sort: (row) => row.name.toLowerCase(),
          cell: (row) =>
            html`${link(boxPath(row), row.name)} <small>${row.description.slice(0, 80)}</small>
              <small class="small">${row.owner} · ${row.visibility}</small>`,
        },
        ...own,
        { name: 'owner', title: 'Owner', sort: (row) => row.owner, cell: (row) => row.owner, look: 'mid' },
        {
          name: 'visibility',
          title: 'Visible to',
          sort: (row) => row.visibility,
          cell: (row) => row.visibility,
          look: 'wide',
        },
        {
          name: 'variables',
          title: 'Variables',
          sort: (row) => row.variables.length,
          cell: (row) => row.variables.length,
          look: 'num wide',
        },
        {
          name: 'instances',
          title: 'Instances',
          sort: (row) => uses.get(row.id) ?? 0,
          cell: (row) => uses.get(row.id) ?? 0,
          look: 'num',
        },
        {
          name: 'updated',
          title: 'Updated (UTC)',
          sort: (row) => row.updated,
          cell: (row) => mono(time(row.updated)),
          look: 'wide',
        },
      ],
      actions,
      empty,
    },
    ask.query,
  );
}
