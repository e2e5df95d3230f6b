import { Type } from 'typebox';
import { administers } from '../access.ts';
import { param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, forbidden, notFound } from '../http.ts';
import type { JobDoc, OrganizationDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { MASK } from '../boxes/masks.ts';
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

/** The fields without passwords in them. */
function shownFields({ fields }: OrganizationDoc): Record<string, unknown> {
  const given = fields['authentication'] as OrganizationFields['authentication'];
  const sources = given.ldap_config?.sources?.map((source) =>
    source.ldap_search_password ? { ...source, ldap_search_password: MASK } : source,
  );
  const config = { ...given.ldap_config, ...(sources === undefined ? {} : { sources }) };
  return { ...fields, authentication: { ...given, ldap_config: config } };
}

export function organizationView(service: Service, organization: OrganizationDoc): Record<string, unknown> {
  const syncs = fieldsOf(organization).authentication.ldap_config?.ldap_group_sync === true;
  return {
    schema: `${service.schemaBase}/organization`,
    ...shownFields(organization),
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

/** An organization that nobody of its own administers could never be changed again. */
function checkAdministrators(
  service: Service,
  organization: OrganizationDoc,
  users: readonly string[],
): void {
  const { workspaces, accounts } = service.store;
  const before = new Set(fieldsOf(organization).administrators);
  for (const user of users) {
    if (!before.has(user) && workspaces.get(user)?.kind !== 'personal') {
      throw badRequest(`administrators: there is no user ${user}`);
    }
  }
  const belongs = (user: string): boolean =>
    accounts.by('workspace', user).some((account) => account.organization === organization.id);
  if (!users.some(belongs)) {
    throw badRequest(`administrators: at least one user of organization ${organization.id} has to stay`);
  }
}

function update(call: Call): Outcome {
  const { service } = call;
  const organization = administered(call);
  const body = call.body as Record<string, unknown> & Partial<OrganizationFields>;
  const schema = `${service.schemaBase}/organization`;
  if (body['schema'] !== schema) throw badRequest(`schema: must be ${schema}`);
  if (body.name !== organization.id) throw badRequest(`name: the organization is called ${organization.id}`);
  if (body['admin_boxes'] !== undefined) throw badRequest('admin_boxes: was removed');
  checkAdministrators(service, organization, body.administrators ?? []);
  const known = Object.keys(organization.fields);
  const given = Object.fromEntries(
    Object.entries(body).filter(([name]) => known.includes(name) && !NOT_STORED.has(name)),
  );
  const stored = service.store.organizations.put({
    ...organization,
    fields: withDefaults({ ...organization.fields, ...given }, organization),
    updated: service.time.stamp(),
  });
  return show(call, stored);
}

/** What a request may leave out (interface document section 2.10). */
function withDefaults(fields: Record<string, unknown>, before: OrganizationDoc): Record<string, unknown> {
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
    authentication: { ...given.authentication, ldap_config: ldapConfig(given, fieldsOf(before)) },
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

type LdapConfig = NonNullable<OrganizationFields['authentication']['ldap_config']>;

/** Without anything in it, or with all its defaults; a password that came back masked is the one that was there. */
function ldapConfig(given: OrganizationFields, before: OrganizationFields): LdapConfig {
  const config = given.authentication.ldap_config ?? {};
  if (Object.keys(config).length === 0) return {};
  const stored = before.authentication.ldap_config?.sources ?? [];
  const sources = (config.sources ?? []).map((source, n) => {
    if (source.ldap_search_password !== MASK) return source;
    const known = stored.find(({ host }) => host === source.host) ?? stored[n];
    const { ldap_search_password: _mask, ...others } = source;
    const password = known?.ldap_search_password;
    return password === undefined ? others : { ...others, ldap_search_password: password };
  });
  return { ldap_group_sync: config.ldap_group_sync ?? false, sources };
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
    variants: [
      Type.Object({ ...OrganizationBody.properties, schema: Type.Literal('{schema_base}/organization') }),
    ],
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
