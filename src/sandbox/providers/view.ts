import type { ProviderDoc } from '../model.ts';
import type { Service } from '../service.ts';

/** Set on every sandbox from its first start, so that manifests can name it: the Test Provider. */
export const TEST_PROVIDER_ID = '00000000-0000-4000-8000-000000000001';

/** A provider as the interface document's sections 2.8 and 4.5 have it; secrets are masked when stored. */
export function providerView(service: Service, provider: ProviderDoc): Record<string, unknown> {
  return {
    ...provider.fields,
    id: provider.id,
    uri: `/services/providers/${provider.id}`,
    name: provider.name,
    description: provider.description,
    icon: provider.icon,
    schema: `${service.schemaBase}/${provider.kind}/provider`,
    type: provider.type,
    owner: provider.owner,
    organization: provider.organization,
    created: provider.created,
    updated: provider.updated,
    deleted: provider.deleted,
    services: provider.services.map((entry) => withImages(provider, entry)),
    members: provider.members,
    state: provider.state,
    admin_boxes: [],
  };
}

/** Machine images stand with the locations of the compute services. */
function withImages(provider: ProviderDoc, entry: Record<string, unknown>): Record<string, unknown> {
  const locations = entry['locations'] as { name: string }[] | undefined;
  if (provider.images.length === 0 || locations === undefined || !String(entry['name']).endsWith('Compute')) {
    return entry;
  }
  return {
    ...entry,
    locations: locations.map((location) => ({
      ...location,
      images: provider.images.filter((image) => image.location === location.name),
    })),
  };
}

/** A list entry: the services by name only (service-behaviour.md 5). */
export function providerEntry(service: Service, provider: ProviderDoc): Record<string, unknown> {
  return {
    ...providerView(service, provider),
    services: provider.services.map((entry) => ({ name: entry['name'] })),
  };
}
