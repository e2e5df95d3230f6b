import type { OrganizationDoc } from '../model.ts';

/** The parts of an organization that steer something, as they are stored. */
export interface OrganizationFields {
  name: string;
  administrators: string[];
  authentication: {
    github: boolean;
    google: boolean;
    password: boolean;
    ldap: boolean;
    ldap_config?: { ldap_group_sync?: boolean; sources?: LdapSource[] };
  };
  features: { provider_sharing: boolean; cost_center: boolean };
  providers: {
    type: string;
    enabled: boolean;
    description?: string;
    pricing: { price?: number | string; region?: string; flavor?: string }[];
  }[];
  tags: { name: string; type: string; value: string | null }[];
  webhooks: string[];
  cost_centers: CostCenter[];
}

export interface LdapSource {
  host: string;
  groups_dn?: string;
  ldap_search_password?: string;
}

export interface CostCenter {
  name: string;
  enforce: boolean;
  workspaces: string[];
  quotas: Quota[];
}

export interface Quota {
  provider: string;
  cost?: number;
  allocated: Allocated[];
  resources?: { cpu?: number; disk?: Quantity; ram?: Quantity };
}

export interface Quantity {
  quantity: number;
  unit: string;
}

export interface Allocated {
  instance_id: string;
  instances: number;
  started: string;
  flavor: string;
  region: string;
  service_type: string;
  terminated: string | null;
}

/** The stored organization's fields, typed; they were validated when they came in. */
export function fieldsOf(organization: OrganizationDoc): OrganizationFields {
  return organization.fields as unknown as OrganizationFields;
}
