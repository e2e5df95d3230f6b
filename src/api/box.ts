import {
  defaulted,
  list,
  object,
  oneOf,
  optional,
  shown,
  text,
  type Seen,
  type Written,
} from './schema/build.ts';
import { exactlyOne, immutable, ownWords } from './schema/rules.ts';
import { DELETION_TEXT, managedFields, managedRules } from './fields/common.ts';
import { keyReference } from './fields/references.ts';
import { recordStatus } from './fields/status.ts';
import { boxVariables, INLINE_LIMIT, nestedOverrides } from './fields/variables.ts';
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

/** The spec of a Box. */
export const BoxSpecSchema = object(
  'A deployable definition: scripts by lifecycle event, variables and nested boxes.',
  {
    ...managedFields(['Delete', 'Orphan'], DELETION_TEXT, 'Recreate'),
    name: optional(
      text(
        'Name on the service, unique per owner over all types of box. Absent: metadata.name. Can be changed.',
        { maxLength: 253, ...ownWords() },
      ),
    ),
    type: defaulted(oneOf('Type of the box. Default Script. Immutable.', ['Script']), 'Script'),
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
  },
  {
    rules: [
      ...managedRules('Box'),
      immutable('type', 'create a new Box of the other type and delete this one'),
    ],
  },
);

/** The status of a Box. */
export const BoxStatusSchema = object('What was found and what was done.', {
  ...recordStatus(),
  draftHash: optional(text('Keyed hash of the content in place.', { maxLength: 128 })),
  files: optional(
    list(
      'Files that were uploaded.',
      object('One file.', {
        path: text('Where it belongs: `events.install`, or `variables.` with scope and name.', {
          maxLength: 400,
        }),
        hmac: text('Keyed hash of the content.', { maxLength: 128 }),
        url: text('Where the service keeps it.', { maxLength: 512 }),
      }),
      { maxItems: 120, mapKeys: ['path'] },
    ),
  ),
  stack: optional(
    shown(
      list('Ids of this box and of all nested boxes.', text('Id of a box.', { maxLength: 64 }), {
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
