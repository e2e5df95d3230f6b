import { param, type Call, type Route } from '../edge/route.ts';
import { forbidden, notFound } from '../http.ts';
import type { OrganizationDoc } from '../model.ts';
import type { Service } from '../service.ts';

function own(call: Call): OrganizationDoc {
  const name = param(call, 'organization_name');
  const organization = call.service.store.organizations.get(name);
  if (organization === undefined) throw notFound(`there is no organization ${name}`);
  if (organization.id !== call.caller.organization)
    throw forbidden(`you do not belong to organization ${name}`);
  return organization;
}

export function organizationView(service: Service, organization: OrganizationDoc): Record<string, unknown> {
  return {
    schema: `${service.schemaBase}/organization`,
    ...organization.fields,
    created: organization.created,
    updated: organization.updated,
    ldap_last_sync_completed: organization.ldap_last_sync_completed,
  };
}

/** Interface document section 4.7. */
export const organizationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/organizations/{organization_name}',
    summary: 'Read an organization',
    success: 200,
    errors: [403, 404],
    handler: (call) => ({ kind: 'json', value: organizationView(call.service, own(call)) }),
  },
];
