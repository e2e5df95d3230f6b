import {
  defaulted,
  duration,
  integer,
  object,
  oneOf,
  optional,
  shown,
  text,
  time,
  type Seen,
  type TextOptions,
  type Written,
} from './schema/build.ts';
import { atMostOne } from './schema/rules.ts';
import { authorityReference, reference } from './fields/references.ts';
import { anyStatus } from './fields/status.ts';
import type { ManifestOf, Parsed, Resource } from './resource.ts';
import { AGE_COLUMN, defineKind, READY_COLUMN, reasonColumn, type KindDefinition } from './schema/kind.ts';

/**
 * Names that a header of the token or of the release can have, in lower case. A closed form, since whoever writes a
 * Connection chooses the name: what routes a request, overrides its method or host, or ends at the next proxy
 * (X-Forwarded-Host, X-HTTP-Method-Override, X-Original-URL, Via, TE, …) is not among them.
 */
const TOKEN_HEADER = '^(authorization|([a-z0-9]+-){0,5}(token|key|auth))$';
const RELEASE_HEADER = '^([a-z0-9]+-){0,5}(release|version)$';
/** Beginnings with which HTTP, browsers and proxies name their own: Sec-WebSocket-Key, X-Forwarded-Release. */
const NOT_OURS =
  '^(sec|proxy|accept|content|if|http|forwarded|x-(forwarded|original|rewrite|http|real|envoy))-';

/** The name of a header. */
function header(form: string, hint: string): TextOptions {
  return {
    maxLength: 64,
    pattern: '^[A-Za-z0-9][A-Za-z0-9-]*$',
    hint: 'must be the name of a header: letters, digits and -',
    rules: [
      {
        rule: `self.lowerAscii().matches('${form}') && !self.lowerAscii().matches('${NOT_OURS}')`,
        message: hint,
        holds: (name: string) =>
          new RegExp(form).test(name.toLowerCase()) && !new RegExp(NOT_OURS).test(name.toLowerCase()),
      },
    ],
  };
}

const headers = defaulted(
  object(
    'Headers for the token and the release. Default {}. Can be changed.',
    {
      token: optional(
        text(
          'Header that carries the token. Absent: Service-Token, unless tokenScheme is Bearer. The operator also sends the token as the cookie `token`. Can be changed.',
          header(
            TOKEN_HEADER,
            'must be Authorization, or a name that ends in -Token, -Key or -Auth and is not a header of HTTP or of proxies',
          ),
        ),
      ),
      tokenScheme: optional(
        oneOf(
          'Bearer sends the token as `Authorization: Bearer …`. Absent: by the header token. Can be changed.',
          ['Bearer'],
        ),
      ),
      release: defaulted(
        text(
          'Header that carries the release. Default Service-Release. Can be changed.',
          header(
            RELEASE_HEADER,
            'must be a name that ends in -Release or -Version and is not a header of HTTP or of proxies',
          ),
        ),
        'Service-Release',
      ),
    },
    { rules: [atMostOne(['tokenScheme', 'token'], 'set only one of token and tokenScheme')] },
  ),
  {},
);

const tls = optional(
  object('TLS settings. Absent: the system’s trusted authorities. Can be changed.', {
    caRef: authorityReference(),
  }),
);

const pace = defaulted(
  object(
    'How fast the operator calls the service, counted over all resources that use this connection. Default {}. Can be changed.',
    {
      requestsPerSecond: defaulted(
        integer('Requests per second on average. Default 10. Can be changed.', {
          minimum: 1,
          maximum: 10_000,
        }),
        10,
      ),
      burst: defaulted(
        integer('Requests that may go at once after a pause. Default 20. Can be changed.', {
          minimum: 1,
          maximum: 10_000,
        }),
        20,
      ),
      inFlight: defaulted(
        integer('Requests that may wait for an answer at the same time. Default 16. Can be changed.', {
          minimum: 1,
          maximum: 1_000,
        }),
        16,
      ),
    },
  ),
  {},
);

/** How long reads may trail writes where a Connection does not say. */
export const LAG_WINDOW = '60s';

const poll = defaulted(
  object('How often the operator reads from the service. Default {}. Can be changed.', {
    processing: defaulted(
      duration(
        'Interval while an operation runs, a duration from 100ms to 1h. Default 5s. Can be changed.',
        '100ms',
        '1h',
      ),
      '5s',
    ),
    settled: defaulted(
      duration(
        'Interval while everything is as declared, a duration from 100ms to 24h. Default 10m. Can be changed.',
        '100ms',
        '24h',
      ),
      '10m',
    ),
    lagWindow: defaulted(
      duration(
        `How long reads of the service may return data from before a write, a duration from 0s to 1h. Default ${LAG_WINDOW}. Can be changed.`,
        '0s',
        '1h',
      ),
      LAG_WINDOW,
    ),
  }),
  {},
);

const defaults = defaulted(
  object('Policies for resources that do not set them. Default {}. Can be changed.', {
    deletionPolicy: defaulted(
      oneOf(
        'Delete: the operator deletes records together with their resources. Orphan: it keeps them. Default Delete. Can be changed.',
        ['Delete', 'Orphan'],
      ),
      'Delete',
    ),
    driftPolicy: defaulted(
      oneOf(
        'Correct: the operator reverts changes made by others. Report: it lists them in status. Ignore: nothing. Default Correct. Can be changed.',
        ['Correct', 'Report', 'Ignore'],
      ),
      'Correct',
    ),
  }),
  {},
);

/** The spec of a Connection. */
export const ConnectionSpecSchema = object(
  'A service and the credentials for it, the default workspace, and how fast it may be called.',
  {
    endpoint: text(
      'Address of the service, such as `https://deploy.example.com`, without a trailing slash; http:// only if the administrator has allowed it. Can be changed; the operator then does not touch records that it created elsewhere until it finds them again.',
      {
        maxLength: 2048,
        hint: 'must be a URL that begins with https:// and has no user name, query, fragment or trailing slash, such as https://deploy.example.com',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*[^\\s?#/])?$',
      },
    ),
    credentialsRef: reference(
      'Secret',
      'The credentials: key `token`, or keys `email` and `password`; one line break at the end of a value is not part of it. Its type is Opaque, boxwright.dev/credentials, or kubernetes.io/basic-auth, where `username` stands for the email. Can be changed.',
    ),
    schemaBase: defaulted(
      text(
        'Prefix of the service’s schema identifiers, without a trailing slash. Default "": the operator takes it from the first workspace record. Can be changed.',
        { minLength: 0, maxLength: 512, pattern: '^([^\\s]*[^\\s/])?$' },
      ),
      '',
    ),
    workspace: defaulted(
      text(
        'Id of the workspace that owns new records. Default "": the account’s personal workspace. Can be changed; existing records stay where they are.',
        { minLength: 0, maxLength: 64 },
      ),
      '',
    ),
    release: defaulted(
      text('Release of the interface that the operator requests, in quotes. Default "4.0". Can be changed.', {
        maxLength: 32,
        pattern: '^[A-Za-z0-9._-]+$',
      }),
      '4.0',
    ),
    headers,
    tls,
    pace,
    poll,
    defaults,
  },
);

/** The status of a Connection. */
export const ConnectionStatusSchema = object('What was found.', {
  ...anyStatus(),
  schemaBase: optional(text('Prefix of the service’s schema identifiers, in use.', { maxLength: 512 })),
  account: optional(
    object('The account that the credentials belong to.', {
      workspace: text('Id of the workspace in use.', { maxLength: 64 }),
      email: optional(shown(text('Address of the account.', { maxLength: 320 }))),
    }),
  ),
  credential: optional(
    object('The credential in use.', {
      kind: oneOf('Token or Password.', ['Token', 'Password']),
      checkedAt: optional(time('When it was checked; moves only when the credential changed.')),
    }),
  ),
});

/** `spec` of a Connection, defaults filled in. */
export type ConnectionSpec = Seen<typeof ConnectionSpecSchema>;
/** `status` of a Connection. */
export type ConnectionStatus = Seen<typeof ConnectionStatusSchema>;
/** A Connection as the operator sees it. */
export type Connection = Resource<ConnectionSpec, ConnectionStatus, 'Connection'>;
/** A Connection as a user writes it. */
export type ConnectionManifest = ManifestOf<Written<typeof ConnectionSpecSchema>, 'Connection'>;

/** The kind Connection. */
export const ConnectionKind: KindDefinition<Connection> = defineKind<Connection>({
  kind: 'Connection',
  plural: 'connections',
  shortNames: ['bwconn'],
  description:
    'An endpoint of the service and the credentials for it: what every other resource of Boxwright refers to.',
  spec: ConnectionSpecSchema,
  status: ConnectionStatusSchema,
  columns: [
    READY_COLUMN,
    reasonColumn(),
    { name: 'ENDPOINT', type: 'string', jsonPath: '.spec.endpoint', description: 'Address of the service.' },
    {
      name: 'WORKSPACE',
      type: 'string',
      jsonPath: '.status.account.workspace',
      description: 'Workspace that owns new records.',
    },
    AGE_COLUMN,
    {
      name: 'ACCOUNT',
      type: 'string',
      jsonPath: '.status.account.email',
      description: 'The account of the credentials.',
      priority: 1,
    },
  ],
  selectableFields: ['.spec.endpoint'],
});

/** Validates a Connection and fills its defaults. Never throws. */
export function parseConnection(raw: unknown): Parsed<Connection> {
  return ConnectionKind.parse(raw);
}
