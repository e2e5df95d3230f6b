type Kind = 'text' | 'whole number' | 'list';

/** Properties of the families that are known (interface document section 2.5, service-behaviour.md 5). */
const GENERAL: Readonly<Record<string, Kind>> = {
  instances: 'whole number',
  image: 'text',
  flavor: 'text',
  location: 'text',
  keypair: 'text',
  cloud: 'text',
  security_groups: 'list',
  subnet: 'text',
  network: 'text',
};

const FAMILIES: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  '/test/compute/profile': GENERAL,
  '/vsphere/compute/profile': {
    ...GENERAL,
    resource_pool: 'text',
    datacenter: 'text',
    network_mor: 'text',
    disks: 'list',
    customization_spec: 'text',
    template: 'text',
    datastore: 'text',
    folder: 'text',
    compute_resource: 'text',
  },
};

const FITS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  'whole number': (value) => Number.isInteger(value),
  list: (value) => Array.isArray(value),
};

/** What looks wrong in a profile. Profiles are open, so this is said and nothing is refused. */
export function profileWarnings(profile: unknown): string[] {
  const { schema, ...properties } = (profile ?? {}) as Record<string, unknown>;
  const family = Object.keys(FAMILIES).find((path) => typeof schema === 'string' && schema.endsWith(path));
  const known = family === undefined ? undefined : FAMILIES[family];
  if (known === undefined) return [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const kind = known[name];
    if (kind === undefined) return [`profile.${name} is no known property`];
    return FITS[kind](value) ? [] : [`profile.${name} should be a ${kind}`];
  });
}
