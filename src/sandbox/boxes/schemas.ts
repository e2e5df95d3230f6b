import { Type, type TSchema } from 'typebox';
import type { BoxKind } from '../model.ts';
import {
  AutomaticUpdates,
  choice,
  FileRef,
  Member,
  Timestamp,
  Variable,
  VersionNumber,
  Visibility,
} from '../schemas.ts';

/** Interface document section 2.4, the older and deprecated names included. */
export const EVENT_NAMES = [
  'pre_configure',
  'configure',
  'post_configure',
  'pre_install',
  'install',
  'post_install',
  'pre_start',
  'start',
  'post_start',
  'pre_stop',
  'stop',
  'post_stop',
  'pre_dispose',
  'dispose',
  'post_dispose',
] as const;

export const Events = Type.Partial(
  Type.Object(Object.fromEntries(EVENT_NAMES.map((name) => [name, FileRef]))),
  {
    additionalProperties: false,
  },
);

/** Interface document section 2.1; the list of what can be deployed as a cloudformation box. */
export const CLOUDFORMATION_TYPES = [
  'CloudFormation Service',
  'MySQL Database Service',
  'Microsoft SQL Database Service',
  'Oracle Database Service',
  'PostgreSQL Database Service',
  'Memcached Service',
  'S3 Bucket',
  'Dynamo DB Domain',
] as const;

const name = Type.String({ minLength: 1, maxLength: 256 });
const texts = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 256 });
const profile = Type.Object({ schema: Type.String({ minLength: 1 }) });

const Lifespan = Type.Object({
  operation: choice('none', 'shutdown', 'terminate'),
  interval: Type.Optional(choice('hours', 'days', 'weeks', 'months')),
  quantity: Type.Optional(Type.Integer({ minimum: 1 })),
});

const Version = Type.Object({
  box: Type.Optional(Type.String()),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  number: VersionNumber,
  workspace: Type.Optional(Type.String()),
});

/** What all four types share in requests. */
export const CommonBox = Type.Object({
  schema: Type.Optional(Type.String()),
  name: Type.Optional(name),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  owner: Type.Optional(Type.String({ maxLength: 64 })),
  visibility: Type.Optional(Visibility),
  icon: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
  members: Type.Optional(Type.Array(Member, { maxItems: 1000 })),
  variables: Type.Optional(Type.Array(Variable, { maxItems: 2000 })),
  automatic_updates: Type.Optional(AutomaticUpdates),
  events: Type.Optional(Events),
  requirements: Type.Optional(texts),
  files: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1000 })),
  ports: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1000 })),
  version: Type.Optional(Version),
});

export const NewBox = Type.Object({ ...CommonBox.properties, schema: Type.String(), name });

const nullable = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);

/** A box in answers: the common fields, and those of its type. */
export const BoxAnswer = Type.Object({
  id: Type.String({ examples: ['2f1c0f0e-6b7e-4f43-9a50-0a4d1f3b7a11'] }),
  uri: Type.String(),
  schema: Type.String(),
  name: Type.String(),
  description: Type.String(),
  owner: Type.String(),
  organization: Type.String(),
  visibility: Visibility,
  members: Type.Array(Member),
  icon: Type.Optional(Type.String({ minLength: 1 })),
  created: Timestamp,
  updated: Timestamp,
  deleted: nullable(Timestamp),
  variables: Type.Array(Variable),
  automatic_updates: AutomaticUpdates,
  draft_from: Type.Optional(Type.String()),
  version: Type.Optional(
    Type.Object({
      box: Type.String(),
      description: Type.String(),
      number: VersionNumber,
      workspace: Type.String(),
    }),
  ),
  requirements: Type.Optional(texts),
  events: Type.Optional(Events),
  profile: Type.Optional(profile),
  provider_id: Type.Optional(Type.String()),
  claims: Type.Optional(texts),
  lifespan: Type.Optional(Lifespan),
  readme: Type.Optional(FileRef),
  type: Type.Optional(Type.String()),
  dockerfile: Type.Optional(FileRef),
  files: Type.Optional(Type.Array(Type.Unknown())),
  ports: Type.Optional(Type.Array(Type.Unknown())),
});

export const BoxList = Type.Array(BoxAnswer);

const Differences = {
  removed: Type.Array(Type.Unknown()),
  added: Type.Array(Type.Unknown()),
  changed: Type.Array(
    Type.Object({
      name: Type.String(),
      previous: Type.Optional(Type.Unknown()),
      new: Type.Optional(Type.Unknown()),
    }),
  ),
};

export const DiffAnswer = Type.Object({
  box_variables: Type.Object({ ...Differences, files_diff: Type.Array(Type.Unknown()) }),
  box_profile_properties: Type.Optional(Type.Object({ title: Type.String(), ...Differences })),
  box_details: Type.Object(Differences),
  box_events: Type.Array(Type.Unknown()),
  changed: Type.Boolean(),
});

/** Required and typed fields of each type, in a create request. */
export const KIND_FIELDS: Readonly<Record<BoxKind, ReturnType<typeof Type.Object>>> = {
  script: Type.Object({ requirements: texts }),
  policy: Type.Object({
    profile,
    provider_id: Type.String({ minLength: 1 }),
    claims: texts,
    lifespan: Type.Optional(Lifespan),
    readme: Type.Optional(Type.Union([FileRef, Type.Null()])),
  }),
  cloudformation: Type.Object({
    profile: Type.Optional(profile),
    provider_id: Type.String({ minLength: 1 }),
    type: choice(...CLOUDFORMATION_TYPES),
    requirements: texts,
  }),
  docker: Type.Object({
    dockerfile: Type.Optional(Type.Union([FileRef, Type.Null()])),
    requirements: texts,
  }),
};

/** A create request of each type. */
export const NEW_BOX_VARIANTS: readonly TSchema[] = Object.entries(KIND_FIELDS).map(
  ([kind, { properties }]) =>
    Type.Object({
      ...NewBox.properties,
      schema: Type.Literal(`{schema_base}/boxes/${kind}`),
      ...properties,
    }),
);

/** Which fields beyond the common ones a type has, with what is there when nothing was given: objects are absent. */
export const KIND_DEFAULTS: Readonly<Record<BoxKind, Readonly<Record<string, unknown>>>> = {
  script: { requirements: [], events: {} },
  policy: { profile: {}, provider_id: '', claims: [], lifespan: { operation: 'none' }, readme: undefined },
  cloudformation: { profile: undefined, provider_id: '', type: '', requirements: [] },
  docker: { requirements: [], dockerfile: undefined },
};

/** The fields of all types. */
export const BOX_FIELDS: readonly string[] = [
  ...new Set(Object.values(KIND_DEFAULTS).flatMap((fields) => Object.keys(fields))),
];
