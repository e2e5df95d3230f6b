import { Type, type TSchema } from 'typebox';
import { choice } from '../schemas.ts';

const text = (maxLength: number, minLength = 0): TSchema => Type.String({ minLength, maxLength });

/** Interface document section 2.10. */
export const ORGANIZATION_PROVIDER_TYPES = [
  'Amazon Web Services',
  'Amazon Web Services GovCloud',
  'Cloudstack',
  'Google Compute',
  'Microsoft Azure',
  'Rackspace',
  'SoftLayer',
  'Openstack',
  'Test Provider',
  'VMware vCloud Director',
  'VMware vSphere',
] as const;

export const TAG_TYPES = [
  'Location',
  'Custom',
  'Workspace',
  'Workspace name',
  'Workspace ID',
  'Provider',
  'Provider name',
  'Environment',
  'Box',
  'Box name',
  'User ID',
  'Email',
  'User email',
  'Service Instance ID',
  'Service ID',
  'Instance ID',
] as const;

const LdapSource = Type.Object({
  host: text(256, 1),
  groups_dn: Type.Optional(text(512)),
  group_dn_filter: Type.Optional(text(512)),
  base_dn_filter: Type.Optional(text(512)),
  email_field: Type.Optional(text(256)),
  ldap_search_user: Type.Optional(text(512)),
  ldap_search_password: Type.Optional(text(512)),
});

const LdapConfig = Type.Object({
  ldap_group_sync: Type.Optional(Type.Boolean()),
  sources: Type.Optional(Type.Array(LdapSource, { maxItems: 100 })),
});

const Authentication = Type.Object({
  github: Type.Boolean(),
  google: Type.Boolean(),
  password: Type.Boolean(),
  ldap: Type.Boolean(),
  ldap_config: Type.Optional(LdapConfig),
});

const Features = Type.Object({
  provider_sharing: Type.Boolean(),
  cost_center: Type.Boolean(),
  onboard_checklist: Type.Boolean(),
  reporting: Type.Boolean(),
  custom_pricing: Type.Optional(Type.Boolean()),
});

const Price = Type.Object({
  platform: Type.Optional(Type.String()),
  price: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  region: Type.Optional(Type.String()),
  flavor: Type.Optional(Type.String()),
  schema: Type.Optional(Type.String()),
});

const OrganizationProvider = Type.Object({
  type: choice(...ORGANIZATION_PROVIDER_TYPES),
  enabled: Type.Optional(Type.Boolean()),
  description: Type.Optional(text(256)),
  pricing: Type.Optional(Type.Array(Price, { maxItems: 10_000 })),
});

const Tag = Type.Object({
  name: text(125, 1),
  type: choice(...TAG_TYPES),
  value: Type.Optional(Type.Union([text(254), Type.Null()])),
});

const quantity = (...units: string[]): TSchema =>
  Type.Object({ quantity: Type.Number({ minimum: 0 }), unit: choice(...units) });

const Allocated = Type.Object({
  instance_id: Type.String(),
  instances: Type.Integer({ minimum: 0 }),
  started: Type.String(),
  flavor: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  service_type: Type.String(),
  terminated: Type.Union([Type.String(), Type.Null()]),
});

const Quota = Type.Object({
  provider: Type.String({ minLength: 1 }),
  cost: Type.Optional(Type.Integer({ minimum: 0 })),
  allocated: Type.Optional(Type.Array(Allocated)),
  resources: Type.Optional(
    Type.Object({
      cpu: Type.Optional(Type.Integer({ minimum: 0 })),
      disk: Type.Optional(quantity('Mb', 'Gb', 'Tb')),
      ram: Type.Optional(quantity('Mb', 'Gb')),
    }),
  ),
});

const CostCenter = Type.Object({
  name: text(125, 1),
  enforce: Type.Optional(Type.Boolean()),
  workspaces: Type.Optional(Type.Array(text(64, 1), { maxItems: 1000 })),
  quotas: Type.Optional(Type.Array(Quota, { maxItems: 100 })),
});

/** PUT of an organization, with the limits of interface document section 8. */
export const OrganizationBody = Type.Object({
  schema: Type.String(),
  name: text(256, 1),
  icon: Type.Optional(text(256)),
  theme: Type.Optional(text(256)),
  administrators: Type.Array(text(64, 1), { maxItems: 1000 }),
  domains: Type.Array(text(256), { maxItems: 1000 }),
  authentication: Authentication,
  features: Features,
  cost_centers: Type.Array(CostCenter, { maxItems: 1000 }),
  ldap_groups: Type.Optional(
    Type.Array(Type.Object({ dn: Type.String(), name: Type.Optional(Type.String()) }), { maxItems: 10_000 }),
  ),
  providers: Type.Optional(Type.Array(OrganizationProvider, { maxItems: 100 })),
  tags: Type.Optional(Type.Array(Tag, { maxItems: 1000 })),
  webhooks: Type.Optional(Type.Array(text(512, 1), { maxItems: 100 })),
});

export const OrganizationAnswer = Type.Object({
  ...OrganizationBody.properties,

  setup: Type.Boolean(),
  created: Type.String(),
  updated: Type.String(),
  ldap_last_sync_completed: Type.Union([Type.String(), Type.Null()]),
});
