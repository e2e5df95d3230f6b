import { isDeepStrictEqual } from 'node:util';
import { Type, type TSchema } from 'typebox';
import { MASK } from '../boxes/masks.ts';

const text = (max = 2048): TSchema => Type.String({ minLength: 1, maxLength: max });

/** One type of provider: the schema URI's first part, its required fields, what it offers once ready. */
export interface ProviderType {
  kind: string;
  /** Type-specific fields of a create request (interface document section 4.5). */
  fields: Readonly<Record<string, TSchema>>;
  locations: readonly string[];
  services: readonly string[];
  /** Limits of common fields that this type alone has (interface document section 8). */
  limits?: Readonly<Record<string, TSchema>>;
  /** Another name that the interface gives a field. */
  aliases?: Readonly<Record<string, string>>;
}

const COMPUTE = ['Linux Compute', 'Windows Compute'];
const AWS = [
  ...COMPUTE,
  'CloudFormation Service',
  'MySQL Database Service',
  'Microsoft SQL Database Service',
  'Oracle Database Service',
  'PostgreSQL Database Service',
  'Memcached Service',
  'S3 Bucket',
  'Dynamo DB Domain',
  'ECS Service',
];

const keys = Type.Object({ key: text(), secret: text() });
const openstack = { identity_url: text(), project: text(), username: text(), password: text() };

export const PROVIDER_TYPES: Readonly<Record<string, ProviderType>> = {
  'Amazon Web Services': {
    kind: 'aws',
    fields: { credentials: Type.Union([Type.Object({ role: text() }), keys]) },
    locations: ['us-east-1', 'us-west-2', 'eu-west-1'],
    services: AWS,
  },
  'Amazon Web Services GovCloud': {
    kind: 'aws',
    fields: { credentials: keys },
    locations: ['us-gov-west-1'],
    services: AWS,
  },
  Rackspace: { kind: 'openstack', fields: openstack, locations: ['DFW', 'LON'], services: COMPUTE },
  Openstack: { kind: 'openstack', fields: openstack, locations: ['RegionOne'], services: COMPUTE },
  'VMware vSphere': {
    kind: 'vsphere',
    fields: { username: text(), secret: text(), endpoint: text() },
    locations: ['Datacenter'],
    services: COMPUTE,
  },
  'VMware vCloud Director': {
    kind: 'vcloud',
    fields: { username: text(), password: text(), url: text(), vorg: text() },
    locations: ['Virtual Datacenter'],
    services: COMPUTE,
  },
  'Google Compute': {
    kind: 'gce',
    fields: {
      project_id: text(),
      email: text(),
      credentials: Type.Union([
        Type.Object({ refresh_token: text(4096), access_token: Type.Optional(text(4096)) }),
        Type.Object({ key: text(4096) }),
      ]),
    },
    locations: ['us-central1-a', 'europe-west1-b'],
    services: COMPUTE,
    limits: {
      organization: Type.Optional(Type.String({ maxLength: 256 })),
      deleted: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Null()])),
    },
  },
  'Microsoft Azure': {
    kind: 'azure',
    fields: { subscription_id: text() },
    locations: ['West Europe', 'East US'],
    services: COMPUTE,
    aliases: { subscription: 'subscription_id' },
  },
  Cloudstack: {
    kind: 'cloudstack',
    fields: { url: text(), api_key: text(), secret_key: text() },
    locations: ['Zone 1'],
    services: COMPUTE,
  },
  SoftLayer: {
    kind: 'softlayer',
    fields: { username: text(), api_key: text() },
    locations: ['Dallas', 'Amsterdam'],
    services: COMPUTE,
  },
  'Test Provider': { kind: 'test', fields: {}, locations: ['Simulated Location'], services: COMPUTE },
};

/** What an account of that type offers: services with their locations, ECS ones with clusters. */
export function servicesOf(type: string): Record<string, unknown>[] {
  const { locations = [], services = [] } = PROVIDER_TYPES[type] ?? {};
  return services.map((name) => ({
    name,
    locations: locations.map((location) =>
      name === 'ECS Service'
        ? {
            name: location,
            clusters: [{ name: 'default', arn: `arn:aws:ecs:${location}:000000000000:cluster/default` }],
          }
        : { name: location },
    ),
  }));
}

const SECRETS = new Set([
  'password',
  'secret',
  'secret_key',
  'api_key',
  'key',
  'refresh_token',
  'access_token',
]);

/** The fields without a secret in them: those are never stored, only whether one was `invalid`. */
export function maskSecrets(fields: Record<string, unknown>): {
  shown: Record<string, unknown>;
  invalid: boolean;
} {
  let invalid = false;
  const mask = (value: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        if (typeof member === 'object' && member !== null)
          return [name, mask(member as Record<string, unknown>)];
        if (member === 'invalid') invalid = true;
        return [name, SECRETS.has(name) ? MASK : member];
      }),
    );
  return { shown: mask(fields), invalid };
}

/** A value of a request with what is stored wherever the mask came back: it means "as it was". */
export function withStored(given: unknown, stored: unknown): unknown {
  if (given === MASK) return stored ?? given;
  if (typeof given !== 'object' || given === null) return given;
  const before = (stored ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(given).map(([name, member]) => [name, withStored(member, before[name])]),
  );
}

/** Whether nothing of it is a new value. */
export function isUnchanged(given: unknown, stored: unknown): boolean {
  return isDeepStrictEqual(withStored(given, stored), stored);
}

/** The fields of a request under their own names. */
export function withoutAliases<T extends Record<string, unknown>>(type: ProviderType, body: T): T {
  const { aliases = {} } = type;
  const named = Object.entries(aliases).filter(([alias, name]) => body[name] === undefined && alias in body);
  return { ...body, ...Object.fromEntries(named.map(([alias, name]) => [name, body[alias]])) };
}
