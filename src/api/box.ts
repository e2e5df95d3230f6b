import {
  defaulted,
  fixed,
  list,
  object,
  oneOf,
  openObject,
  optional,
  shown,
  text,
  time,
  type Seen,
  type Written,
} from './schema/build.ts';
import { exactlyOne, ownWords, type Rule } from './schema/rules.ts';
import { DELETION_TEXT, managedFields, managedRules } from './fields/common.ts';
import { keyReference } from './fields/references.ts';
import { fileOf, sharingFields } from './fields/sharing.ts';
import { draftStatus } from './fields/status.ts';
import { boxVariables, INLINE_LIMIT, nestedOverrides } from './fields/variables.ts';
import { BOX_TYPES } from './words.ts';
import type { ManifestOf, Parsed, Resource } from './resource.ts';
import {
  AGE_COLUMN,
  CONNECTION_COLUMN,
  defineKind,
  ID_COLUMN,
  READY_COLUMN,
  reasonColumn,
  type KindDefinition,
} from './schema/kind.ts';

function event(when: string) {
  return optional(
    object(
      `${when} Absent: no script. Can be changed.`,
      {
        inline: optional(
          text('The script itself, at most 64 KiB. Can be changed.', {
            minLength: 0,
            maxLength: INLINE_LIMIT,
          }),
        ),
        configMapKeyRef: optional(
          keyReference(
            'ConfigMap',
            'Takes the script from a ConfigMap. The operator applies a change of the ConfigMap. Can be changed.',
          ),
        ),
        destinationPath: optional(
          text('Absolute path of the script on the machine. Absent: the service chooses. Can be changed.', {
            maxLength: 512,
          }),
        ),
        contentType: optional(
          text('What the script is, as a media type. Absent: text/x-shellscript. Can be changed.', {
            maxLength: 128,
            pattern: '^[a-z0-9.+-]+/[a-zA-Z0-9.+-]+$',
            hint: 'must be a media type, such as text/x-python',
          }),
        ),
      },
      {
        rules: [exactlyOne(['inline', 'configMapKeyRef'], 'set exactly one of inline and configMapKeyRef')],
      },
    ),
  );
}

const events = defaulted(
  object('Scripts by lifecycle event. Default {}: no events. Can be changed.', {
    preInstall: event('Runs before nested boxes are installed, on deploy and reinstall.'),
    install: event('Runs after nested boxes are installed, on deploy and reinstall.'),
    preConfigure: event(
      'Runs before nested boxes are configured, on deploy, reinstall, reconfigure and power-on.',
    ),
    configure: event(
      'Runs after nested boxes are configured, on deploy, reinstall, reconfigure and power-on.',
    ),
    preStart: event('Runs before nested boxes are started, on deploy and power-on.'),
    start: event('Runs after nested boxes are started, on deploy and power-on.'),
    preStop: event('Runs before stop, on shutdown, if the service supports this event.'),
    stop: event('Runs before nested boxes are stopped, on shutdown.'),
    postStop: event('Runs after nested boxes are stopped, on shutdown.'),
    preDispose: event('Runs before dispose, on terminate, if the service supports this event.'),
    dispose: event('Runs before nested boxes are disposed of, on terminate.'),
    postDispose: event('Runs after nested boxes are disposed of, on terminate.'),
    postInstall: event('Deprecated: use preInstall.'),
    postConfigure: event('Deprecated: use preConfigure.'),
    postStart: event('Deprecated: use preStart.'),
  }),
  {},
);

/** The events of a Box, current and deprecated. */
const EVENTS = Object.keys(events.properties);

const hasEvents = EVENTS.map((name) => `has(events.${name})`).join(' || ');

interface TypedSpec {
  type: string;
  events: object;
  dockerfile?: unknown;
  cloudFormation?: unknown;
}

/** What only some types of box have. */
const TYPE_RULES: Rule[] = [
  {
    // Named once: each look from the spec at one of its fields costs.
    rule: `self.type == 'Script' || [self.events].all(events, !(${hasEvents}))`,
    message: 'events are only for type Script: remove them, or create a Box of type Script',
    holds: ({ type, events: declared }: TypedSpec) => type === 'Script' || Object.keys(declared).length === 0,
  },
  {
    rule: `!has(self.dockerfile) || self.type == 'Docker'`,
    message: 'dockerfile is only for type Docker: remove it, or create a Box of type Docker',
    holds: ({ type, dockerfile }: TypedSpec) => type === 'Docker' || dockerfile === undefined,
  },
  {
    rule: `has(self.cloudFormation) == (self.type == 'CloudFormation')`,
    message: 'a Box of type CloudFormation needs cloudFormation, and no other type has it',
    holds: ({ type, cloudFormation }: TypedSpec) =>
      (type === 'CloudFormation') === (cloudFormation !== undefined),
  },
];

/** One number of three. */
const PART = '(0|[1-9][0-9]{0,8})';

const ASKED = 'Can be changed if the service allows it; otherwise the condition NotApplied says so.';

const cloudFormation = optional(
  object(`What a Box of type CloudFormation deploys. ${ASKED}`, {
    serviceType: text(
      `Type of the service, as the service spells it: CloudFormation Service, MySQL Database Service, Microsoft SQL Database Service, Oracle Database Service, PostgreSQL Database Service, Memcached Service, S3 Bucket or Dynamo DB Domain. Required. ${ASKED}`,
      { maxLength: 64 },
    ),
    providerId: text(`Id of the AWS provider on the service. Required. ${ASKED}`, { maxLength: 64 }),
    profile: optional(
      object(
        `Settings of the service. Absent: the operator leaves the profile of the record alone. ${ASKED}`,
        {
          schema: text(
            `Schema of the profile: relative to the connection’s schema base, such as \`aws/s3/profile\`, or absolute. Required. ${ASKED}`,
            { maxLength: 512, pattern: '^[^\\s]+$' },
          ),
          properties: defaulted(
            openObject(`Properties of the profile as the service spells them. Default {}. ${ASKED}`, 64),
            {},
          ),
        },
      ),
    ),
  }),
);

/** The spec of a Box. */
export const BoxSpecSchema = object(
  'A deployable definition: scripts by lifecycle event, variables and nested boxes.',
  {
    ...managedFields('Box', ['Delete', 'Orphan'], DELETION_TEXT, 'Recreate'),
    name: optional(
      text(
        'Name on the service, unique per owner over all types of box. Absent: metadata.name. Can be changed.',
        { maxLength: 253, ...ownWords() },
      ),
    ),
    type: defaulted(
      fixed(
        'type',
        oneOf(
          'Type of the box. Script: scripts by lifecycle event. Docker: an image by its Dockerfile. CloudFormation: a service of AWS. Default Script. Immutable.',
          BOX_TYPES.ours,
        ),
        'create a new Box of the other type and delete this one',
      ),
      'Script',
    ),
    description: defaulted(
      text('For people. Default "". Can be changed.', { minLength: 0, maxLength: 2048 }),
      '',
    ),
    requirements: defaulted(
      list(
        'What a policy box must claim to run this box, such as Linux. Default []: nothing. Can be changed.',
        text('One requirement, as the service spells it.', { maxLength: 128 }),
        { maxItems: 32 },
      ),
      [],
    ),
    variables: boxVariables(),
    overrides: nestedOverrides(
      'Values for variables of nested boxes. Unique by scope and name. Default []. Can be changed.',
    ),
    events,
    dockerfile: optional(
      fileOf('How the image of a Box of type Docker is built. Absent: the operator leaves it alone.', ASKED),
    ),
    cloudFormation,
    publish: optional(
      object(
        'The version that the operator makes of the content, once it is in place. Versions never change, and none is made twice. Absent: none is made, and those that are there stay. Can be changed.',
        {
          version: text(
            'Number of the version: major, minor and patch, such as 1.4.0. Required. Another number makes another version. Can be changed.',
            {
              maxLength: 32,
              pattern: `^${PART}\\.${PART}\\.${PART}$`,
              hint: 'must be three numbers, such as 1.4.0',
            },
          ),
          description: defaulted(
            text(
              'What the version brings, for people. Default "". Can be changed until the version is made.',
              {
                minLength: 0,
                maxLength: 2048,
              },
            ),
            '',
          ),
        },
      ),
    ),
    ...sharingFields(),
  },
  {
    rules: [...TYPE_RULES, ...managedRules('Box')],
  },
);

/** The status of a Box. */
export const BoxStatusSchema = object('What was found and what was done.', {
  ...draftStatus(),

  organization: optional(shown(text('Organization that the box belongs to.'))),
  draftFrom: optional(
    shown(text('Id of the version that the content of the box began from.', { maxLength: 64 })),
  ),
  aboutHash: optional(
    text(
      'Keyed hash of what is in place of sharing, icon and readme; absent where nothing of it is declared.',
      {
        maxLength: 128,
      },
    ),
  ),
  files: optional(
    list(
      'Files that were uploaded.',
      object('One file.', {
        path: text(
          'Where it belongs: `events.install`, `variables.` with scope and name, or the name of its field.',
          {
            maxLength: 400,
          },
        ),
        hmac: text('Keyed hash of the content.', { maxLength: 128 }),
        url: text('Where the service keeps it.', { maxLength: 512 }),
      }),
      { maxItems: 120, mapKeys: ['path'] },
    ),
  ),
  versions: optional(
    shown(
      list(
        'The newest ten versions of the box, the newest first.',
        object('A version.', {
          number: text('Number of the version.', { maxLength: 64 }),
          id: text('Id of the version on the service.', { maxLength: 64 }),
        }),
        { maxItems: 10, mapKeys: ['id'] },
      ),
    ),
  ),
  published: optional(
    object('The version that was made, as spec.publish declares it.', {
      number: text('Number of the version.', { maxLength: 32 }),
      id: text('Id of the version on the service.', { maxLength: 64 }),
      draftHash: text('Keyed hash of the content that it was made of.', { maxLength: 128 }),
    }),
  ),
  publishing: optional(
    object('The version that is being made. Noted before it is sent, so that none is made twice.', {
      number: text('Number of the version.', { maxLength: 32 }),
      draftHash: text('Keyed hash of the content that it is made of.', { maxLength: 128 }),
      at: time('When that began.'),
    }),
  ),
  stack: optional(
    shown(
      list('Ids of this box and of all nested boxes.', text('Id of a box.', { maxLength: 64 }), {
        maxItems: 100,
      }),
    ),
  ),
  bindings: optional(
    shown(
      list('Ids of the boxes that variables of type Binding name.', text('Id of a box.', { maxLength: 64 }), {
        maxItems: 100,
      }),
    ),
  ),
});

/** `spec` of a Box, defaults filled in. */
export type BoxSpec = Seen<typeof BoxSpecSchema>;
/** `status` of a Box. */
export type BoxStatus = Seen<typeof BoxStatusSchema>;
/** A Box as the operator sees it. */
export type Box = Resource<BoxSpec, BoxStatus, 'Box'>;
/** A Box as a user writes it. */
export type BoxManifest = ManifestOf<Written<typeof BoxSpecSchema>, 'Box'>;
/** An event's name as a user writes it. */
export type EventName = keyof BoxSpec['events'];

/** The kind Box. */
export const BoxKind: KindDefinition<Box> = defineKind<Box>({
  kind: 'Box',
  plural: 'boxes',
  shortNames: ['bwbox'],
  description: 'A deployable definition on the service: scripts, variables and nested boxes.',
  spec: BoxSpecSchema,
  status: BoxStatusSchema,
  columns: [
    READY_COLUMN,
    reasonColumn(),
    { name: 'TYPE', type: 'string', jsonPath: '.spec.type', description: 'Type of the box.' },
    AGE_COLUMN,
    ID_COLUMN,
    CONNECTION_COLUMN,
  ],
  selectableFields: ['.spec.connectionRef.name'],
});

/** Validates a Box and fills its defaults. Never throws. */
export function parseBox(raw: unknown): Parsed<Box> {
  return BoxKind.parse(raw);
}
