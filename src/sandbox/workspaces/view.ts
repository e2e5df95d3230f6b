import type { WorkspaceDoc } from '../model.ts';
import type { Service } from '../service.ts';

/** A workspace as the interface document's section 2.9 has it. */
export function workspaceView(service: Service, workspace: WorkspaceDoc): Record<string, unknown> {
  const common = {
    id: workspace.id,
    uri: `/services/workspaces/${workspace.id}`,
    name: workspace.name,
    schema: `${service.schemaBase}/workspaces/${workspace.kind}`,
    created: workspace.created,
    updated: workspace.updated,
    deleted: workspace.deleted,
    icon: workspace.icon,
  };
  if (workspace.kind === 'team') {
    const { organizations, members, owner, ldap_groups } = workspace;
    return { ...common, organizations, members, owner, ldap_groups };
  }
  return {
    ...common,
    organization: workspace.organizations[0] ?? 'public',
    email: workspace.email,
    group_dns: workspace.fields['group_dns'] ?? [],
    add_provider: service.store.providers.by('owner', workspace.id).some((provider) => !provider.shared),
    deploy_instance: service.store.instances.by('owner', workspace.id).length > 0,
    take_tour: workspace.fields['take_tour'] ?? false,
  };
}

/** An id made of the name: its first word in lower case, with a number when that is taken. */
export function workspaceId(service: Service, name: string): string {
  const word = (name.trim().split(/\s+/)[0] ?? '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.-]/gu, '')
    .slice(0, 56);
  const base = word === '' ? 'workspace' : word;
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}${n}`;
    if (service.store.workspaces.get(id) === undefined) return id;
  }
}
