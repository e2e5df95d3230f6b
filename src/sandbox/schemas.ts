import { Type, type TSchema } from 'typebox';

/** `YYYY-MM-DD HH:MM:SS.ffffff`, UTC. */
export const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{6}$',
  description: 'a time of the form YYYY-MM-DD HH:MM:SS.ffffff (UTC)',
  examples: ['2026-11-27 10:00:00.000000'],
});

export const NullableTimestamp = Type.Union([Timestamp, Type.Null()]);

export const choice = (...values: string[]): TSchema => Type.Enum(values);

export const AutomaticUpdates = choice('off', 'major', 'minor', 'patch');
export const Visibility = choice('public', 'organization', 'workspace');

/** Interface document section 2.2; types and visibilities are open sets. */
export const Variable = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  type: Type.String({ minLength: 1, maxLength: 64 }),
  value: Type.Optional(
    Type.Union([Type.String({ maxLength: 1_000_000 }), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
  required: Type.Optional(Type.Boolean()),
  visibility: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String({ maxLength: 1024 })),
  automatic_updates: Type.Optional(AutomaticUpdates),
  // Of a Binding (service-behaviour.md 2.5).
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 254 }), { maxItems: 100 })),
  // Of type Options: choices, separated by commas.
  options: Type.Optional(Type.String({ maxLength: 100_000 })),
});

/** In a deploy request or an update only the name says which variable is meant. */
export const VariableOverride = Type.Object({
  ...Variable.properties,
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
});

export const Member = Type.Object({
  role: choice('collaborator', 'read'),
  workspace: Type.String({ minLength: 1, maxLength: 64 }),
});

export const VersionNumber = Type.Object({
  major: Type.Integer({ minimum: 0 }),
  minor: Type.Integer({ minimum: 0 }),
  patch: Type.Integer({ minimum: 0 }),
});

export const LeaseInput = Type.Object({
  operation: choice('shutdown', 'terminate', 'alwayson'),
  expire: Type.Optional(NullableTimestamp),
  released: Type.Optional(Type.Boolean()),
});

/** Every 4xx and 5xx. */
export const FailureAnswer = Type.Object({
  message: Type.String({ examples: ['name: is required'] }),
  error: Type.String({ examples: ['Bad Request'] }),
  code: Type.Integer({ examples: [400] }),
  reason: Type.Optional(
    Type.Enum(['invalid', 'refused'], {
      description:
        'Of a 400. invalid: the request does not fit this description. refused: it fits, and asks for something that is not there, is not visible to the caller, or cannot be; `message` names it.',
    }),
  ),
});

/** A file by reference (events, readme, dockerfile). */
export const FileRef = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  upload_date: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  length: Type.Optional(Type.Integer({ minimum: 0 })),
  content_type: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  destination_path: Type.Optional(Type.Union([Type.String({ maxLength: 1024 }), Type.Null()])),
});
