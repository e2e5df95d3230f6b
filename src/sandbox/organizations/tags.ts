import type { InstanceDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { revision } from '../instances/stack.ts';
import { fieldsOf } from './fields.ts';

/** A tag that the organization puts on what is deployed. */
export interface ComputedTag {
  name: string;
  type: string;
  value: string;
}

/** The organization's tags with the values that they have for one instance (interface document section 2.10). */
export function computedTags(service: Service, organization: string, instance: InstanceDoc): ComputedTag[] {
  const doc = service.store.organizations.get(organization);
  const tags = doc === undefined ? [] : fieldsOf(doc).tags;
  if (tags.length === 0) return [];
  const values = valuesFor(service, instance);
  return tags.map(({ name, type, value }) => ({ name, type, value: value ?? values[type] ?? '' }));
}

function valuesFor(service: Service, instance: InstanceDoc): Readonly<Record<string, string>> {
  const { store } = service;
  const policy = revision(service, instance.policy);
  const main = revision(service, instance.stack[0] ?? '');
  const profile = (policy?.fields['profile'] ?? {}) as Record<string, unknown>;
  const provider = store.providers.get(String(policy?.fields['provider_id']));
  const workspace = store.workspaces.get(instance.owner);
  const user = store.workspaces.get(workspace?.kind === 'team' ? workspace.owner : instance.owner);
  const location = typeof profile['location'] === 'string' ? profile['location'] : '';
  return {
    Location: location,
    Workspace: instance.owner,
    'Workspace name': workspace?.name ?? '',
    'Workspace ID': instance.owner,
    Provider: provider?.id ?? '',
    'Provider name': provider?.name ?? '',
    Environment: instance.name,
    Box: instance.box,
    'Box name': main?.name ?? '',
    'User ID': user?.id ?? '',
    Email: user?.email ?? '',
    'User email': user?.email ?? '',
    'Service Instance ID': `${instance.service.id}-1`,
    'Service ID': instance.service.id,
    'Instance ID': instance.id,
  };
}
