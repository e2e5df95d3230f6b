import { belongsTo } from '../../access.ts';
import type { WorkspaceDoc } from '../../model.ts';
import type { Ask, Shown } from '../ask.ts';
import { html, type Html } from '../html.ts';
import { count, facts, link, nothing, part, table, tag, time } from '../pieces.ts';
import { columns, detailPage, missing } from './detail.ts';

export function workspaceDetail(ask: Ask): Shown {
  const { service, caller, params } = ask;
  const workspace = service.store.workspaces.get(params['id'] ?? '');
  if (workspace === undefined || !belongsTo(caller, workspace)) {
    return missing('workspaces', 'Workspaces', 'workspace', params['id'] ?? '');
  }
  return detailPage({
    section: 'workspaces',
    list: 'Workspaces',
    name: workspace.name,
    id: workspace.id,
    marks: html`${tag(workspace.kind)} ${!caller.writes.has(workspace.id) && tag('you may read')}`,
    content: columns(
      html`${holdsPart(ask, workspace)} ${workspace.kind === 'team' && membersPart(workspace)}`,
      part('facts', 'Facts', factsOf(workspace)),
    ),
  });
}

function holdsPart({ service }: Ask, { id }: WorkspaceDoc): Html {
  const { boxes, instances, providers } = service.store;
  const own = boxes.by('owner', id).filter((box) => box.version === undefined);
  const policies = own.filter((box) => box.kind === 'policy').length;
  const owner = encodeURIComponent(id);
  const rows = [
    link(`/page/instances?owner=${owner}`, count(instances.by('owner', id).length, 'instance', 'instances')),
    link(`/page/boxes?owner=${owner}`, count(own.length - policies, 'box', 'boxes')),
    link(`/page/policy-boxes?owner=${owner}`, count(policies, 'policy box', 'policy boxes')),
    link(`/page/providers?owner=${owner}`, count(providers.by('owner', id).length, 'provider', 'providers')),
  ];
  return part(
    'holds',
    'What it owns',
    html`<ul class="plain">
      ${rows.map((row) => html`<li>${row}</li>`)}
    </ul>`,
  );
}

function membersPart({ members, ldap_groups: groups }: WorkspaceDoc): Html {
  const rows = [
    ...members.map(({ workspace, role }) => [workspace, role]),
    ...groups.map((group) => [typeof group === 'string' ? group : JSON.stringify(group), 'LDAP group']),
  ];
  return part(
    'members',
    'Members',
    rows.length === 0 ? nothing('Nobody besides its owner.') : table(['Member', 'Role'], rows, 'Members'),
  );
}

function factsOf(workspace: WorkspaceDoc): Html {
  return facts([
    ['Owner', workspace.owner],
    ['Email', workspace.email],
    ['Organizations', workspace.organizations.join(', ')],
    ['Created', time(workspace.created)],
    ['Updated', time(workspace.updated)],
  ]);
}
