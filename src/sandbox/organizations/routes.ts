import { administers } from '../access.ts';
import { param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, forbidden, notFound } from '../http.ts';
import type { JobDoc, OrganizationDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { fieldsOf, type OrganizationFields } from './fields.ts';
import { OrganizationAnswer, OrganizationBody } from './schemas.ts';

function own(call: Call): OrganizationDoc {
  const name = param(call, 'organization_name');
  const organization = call.service.store.organizations.get(name);
  if (organization === undefined) throw notFound(`there is no organization ${name}`);
  if (organization.id !== call.caller.organization) {
    throw forbidden(`you do not belong to organization ${name}`);
  }
  return organization;
}

function administered(call: Call): OrganizationDoc {
  const organization = own(call);
  if (!administers(call.caller, organization)) {
    throw forbidden(`only an administrator may change organization ${organization.id}`);
  }
  return organization;
}

export function organizationView(service: Service, organization: OrganizationDoc): Record<string, unknown> {
  const syncs = fieldsOf(organization).authentication.ldap_config?.ldap_group_sync === true;
  return {
    schema: `${service.schemaBase}/organization`,
    ...organization.fields,
    created: organization.created,
    updated: organization.updated,
    ldap_last_sync_completed: syncs ? organization.ldap_last_sync_completed : null,
  };
}

const show = (call: Call, organization: OrganizationDoc): Outcome => ({
  kind: 'json',
  value: organizationView(call.service, organization),
});

/** Members of the body that are read-only or not part of an organization. */
const NOT_STORED = new Set([
  'schema',
  'created',
  'updated',
  'setup',
  'ldap_last_sync_completed',
  'admin_boxes',
]);

function update(call: Call): Outcome {
  const { service } = call;
  const organization = administered(call);
  const body = call.body as Record<string, unknown> & Partial<OrganizationFields>;
  const schema = `${service.schemaBase}/organization`;
  if (body['schema'] !== schema) throw badRequest(`schema: must be ${schema}`);
  if (body.name !== organization.id) throw badRequest(`name: the organization is called ${organization.id}`);
  if (body['admin_boxes'] !== undefined) throw badRequest('admin_boxes: was removed');
  for (const user of body.administrators ?? []) {
    if (service.store.workspaces.get(user)?.kind !== 'personal') {
      throw badRequest(`administrators: there is no user ${user}`);
    }
  }
  const known = Object.keys(organization.fields);
  const given = Object.fromEntries(
    Object.entries(body).filter(([name]) => known.includes(name) && !NOT_STORED.has(name)),
  );
  const stored = service.store.organizations.put({
    ...organization,
    fields: withDefaults({ ...organization.fields, ...given }),
    updated: service.time.stamp(),
  });
  return show(call, stored);
}

/** What a request may leave out (interface document section 2.10). */
function withDefaults(fields: Record<string, unknown>): Record<string, unknown> {
  const given = fields as unknown as OrganizationFields;
  const centers = given.cost_centers.map((center) => ({
    ...center,
    enforce: (center.enforce as boolean | undefined) ?? false,
    workspaces: (center.workspaces as string[] | undefined) ?? [],
    quotas: ((center.quotas as typeof center.quotas | undefined) ?? []).map((quota) => ({
      ...quota,
      allocated: (quota.allocated as typeof quota.allocated | undefined) ?? [],
    })),
  }));
  return {
    ...fields,
    authentication: { ldap_config: {}, ...given.authentication },
    features: { custom_pricing: false, ...given.features },
    providers: given.providers.map((entry) => ({
      ...entry,
      description: entry.description ?? '',
      pricing: (entry.pricing as typeof entry.pricing | undefined) ?? [],
      enabled: (entry.enabled as boolean | undefined) ?? false,
    })),
    // Only a Custom tag has a value of its own.
    tags: given.tags.map((tag) => ({
      ...tag,
      value: tag.type === 'Custom' ? ((tag.value as string | null | undefined) ?? '') : null,
    })),
    cost_centers: centers,
  };
}

function syncGroups(call: Call): Outcome {
  const { service } = call;
  const organization = administered(call);
  if (fieldsOf(organization).authentication.ldap_config?.ldap_group_sync !== true) {
    throw badRequest(`organization ${organization.id} does not synchronize LDAP groups (ldap_group_sync)`);
  }
  service.engine.schedule({
    id: `groups:${organization.id}`,
    kind: 'groups',
    due: service.time.now() + service.settings.durations.groupSync,
    data: { organization: organization.id },
  });
  return { kind: 'none' };
}

/** The end of a group synchronisation: each source gives one group. */
export function runGroups(service: Service, job: JobDoc, at: number): void {
  service.engine.cancel(job.id);
  const organization = service.store.organizations.get(String(job.data['organization']));
  if (organization === undefined) return;
  const sources = fieldsOf(organization).authentication.ldap_config?.sources ?? [];
  const groups = sources.map(({ host, groups_dn: dn }) => ({
    dn: dn ?? `cn=users,dc=${host}`,
    name: /^[^=]+=([^,]+)/.exec(dn ?? '')?.[1] ?? 'users',
  }));
  service.store.organizations.put({
    ...organization,
    fields: { ...organization.fields, ldap_groups: groups },
    ldap_last_sync_completed: service.time.stamp(at),
  });
}

/** Interface document section 4.7, the path outside /services included. */
export const organizationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/organizations/{organization_name}',
    summary: 'Read an organization',
    success: 200,
    errors: [403, 404],
    answer: OrganizationAnswer,
    handler: (call) => show(call, own(call)),
  },
  {
    method: 'PUT',
    path: '/services/organizations/{organization_name}',
    summary: 'Update an organization, as one of its administrators',
    success: 200,
    errors: [403, 404],
    body: OrganizationBody,
    answer: OrganizationAnswer,
    handler: update,
  },
  {
    method: 'PUT',
    path: '/organizations/{organization_name}/sync_groups',
    summary: 'Queue a synchronisation of LDAP groups',
    success: 202,
    errors: [403, 404],
    handler: syncGroups,
  },
];
