/** What an organization has when nobody set anything (interface document section 2.10). */
export function organizationDefaults(name: string): Record<string, unknown> {
  return {
    name,
    icon: '',
    theme: '',
    setup: true,
    administrators: [],
    domains: [],
    authentication: { github: true, google: true, ldap: false, password: true, ldap_config: {} },
    ldap_groups: [],
    features: {
      cost_center: false,
      custom_pricing: false,
      onboard_checklist: false,
      provider_sharing: true,
      reporting: false,
    },
    providers: [],
    tags: [],
    webhooks: [],
    cost_centers: [],
  };
}
