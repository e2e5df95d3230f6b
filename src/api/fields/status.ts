import { MEMBERS_LIMIT } from './sharing.ts';
import { MANAGED_VARIABLES_LIMIT } from './variables.ts';
import {
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  shown,
  text,
  time,
  token,
  type Seen,
} from '../schema/build.ts';

/** So many earlier records of a resource are kept in mind. */
export const FORMER_LIMIT = 5;

/** Status fields of every kind. Conditions follow metav1.Condition. */
export function anyStatus() {
  return {
    observedGeneration: integer(
      'The metadata.generation that this status speaks of; -1 until the operator has looked for the first time.',
      { minimum: -1, maximum: Number.MAX_SAFE_INTEGER, format: 'int64' },
    ),
    conditions: optional(
      shown(
        list(
          'What is true of the resource now. Ready is always there; Reconciling and Stalled only while True, and never both.',
          object('One condition.', {
            type: text('Type of the condition, such as Ready.', {
              maxLength: 316,
              pattern:
                '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
            }),
            status: oneOf('True, False or Unknown.', ['True', 'False', 'Unknown']),
            observedGeneration: optional(
              integer('The metadata.generation that this condition speaks of.', {
                minimum: 0,
                maximum: Number.MAX_SAFE_INTEGER,
                format: 'int64',
              }),
            ),
            lastTransitionTime: time('When status last changed, RFC 3339.'),
            reason: text('Why, as one word of the closed list in the reference.', {
              maxLength: 1024,
              pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
            }),
            message: text('The same for people, with the next step.', { minLength: 0, maxLength: 32_768 }),
          }),
          { maxItems: 16, mapKeys: ['type'] },
        ),
      ),
    ),
    lastHandledRequest: optional(
      shown(
        token(
          'The value of the annotation boxwright.dev/requested-at that was last acted upon; its hash where it has over 256 characters.',
        ),
      ),
    ),
  };
}

/** Keys on a record that we put there: for three-way merges. */
function managedKeys() {
  return {
    variables: optional(
      list(
        'Variables that we put there, as `name` or `scope:name`.',
        text('A variable.', { maxLength: 330 }),
        { maxItems: MANAGED_VARIABLES_LIMIT },
      ),
    ),
    members: optional(
      list(
        'Members that we put there, by workspace.',
        text('A workspace.', { maxLength: 64 }),
        // All of one declaration, and all of the next.
        { maxItems: 2 * MEMBERS_LIMIT },
      ),
    ),
    tags: optional(list('Tags that we put there.', text('A tag.', { maxLength: 64 }), { maxItems: 64 })),
  };
}

/** `status.managed` of a kind whose record has a profile. */
function managedWithProfile() {
  return object('What on the record is ours, so that what others added there stays.', {
    ...managedKeys(),
    profile: optional(
      list(
        'Properties of the profile that we put there, as JSON pointers such as /flavor or /tags/env.',
        text('A property.', { maxLength: 1024 }),
        { maxItems: 2_000 },
      ),
    ),
  });
}

/** Status fields of every kind that stands for a record of the service. */
export function recordStatus() {
  return {
    ...anyStatus(),
    id: optional(text('Id of the record on the service.', { maxLength: 64 })),
    uri: optional(shown(text('Path of the record on the service.'))),
    home: optional(
      object('Where the record was made. While the connection points elsewhere, nothing is concluded.', {
        endpoint: text('Endpoint of the service.', { maxLength: 2048 }),
        owner: text('Id of the workspace that owns the record.', { maxLength: 64 }),
        // Where it is not known, absence is believed as it is without it: an older definition holds nothing.
        account: optional(
          shown(
            text(
              'The account that found the record last: its address, or the id of its personal workspace.',
              { maxLength: 320 },
            ),
          ),
        ),
      }),
    ),
    managed: optional(
      object('What on the record is ours, so that what others added there stays.', managedKeys()),
    ),
    deleteSentAt: optional(time('When the first DELETE went to the service.')),
    former: optional(
      list(
        'Earlier records of this resource that may still be, or come back: they are this resource’s until they are gone.',
        object('An earlier record.', {
          id: text('Id of the record on the service.', { maxLength: 64 }),
          endpoint: text('Endpoint of the service.', { maxLength: 2048 }),
          owner: text('Id of the workspace that owns the record.', { maxLength: 64 }),
          why: oneOf(
            'Gone: it was proved gone. Ended: the instance was terminated by somebody else. Surplus: another record was ' +
              'kept in its place, and the operator removes it.',
            ['Gone', 'Ended', 'Surplus'],
          ),
          since: time('Since when that is so.'),
          replacedAt: optional(time('When what was made in its place was Ready for the first time.')),
          seenAt: optional(time('When a record that had been replaced was seen again.')),
          seenWith: optional(
            text('The value of boxwright.dev/adopt at that time: only another one decides.', {
              maxLength: 64,
            }),
          ),
          seal: optional(
            text('Keyed hash by which the operator knows that this resource had the record.', {
              maxLength: 64,
            }),
          ),
          terminateTries: optional(
            integer('How often terminate was sent to it.', { minimum: 0, maximum: 1_000 }),
          ),
        }),
        { maxItems: FORMER_LIMIT, mapKeys: ['id'] },
      ),
    ),
    policies: optional(
      shown(
        object('The policies in force, connection defaults included.', {
          deletion: text('Deletion policy.', { maxLength: 16 }),
          drift: text('Drift policy.', { maxLength: 16 }),
          missing: text('What happens when the record is missing.', { maxLength: 16 }),
        }),
      ),
    ),
    drift: optional(
      shown(
        list(
          'With driftPolicy Report: the fields that differ, secrets masked.',
          object('One field that differs.', {
            field: text('The field.'),
            want: optional(text('What this resource says.', { minLength: 0, maxLength: 256 })),
            have: optional(text('What the record says.', { minLength: 0, maxLength: 256 })),
          }),
          { maxItems: 20, mapKeys: ['field'] },
        ),
      ),
    ),
  };
}

/** Status fields of every kind whose record is a box of the service. */
export function draftStatus() {
  return {
    ...recordStatus(),
    managed: optional(managedWithProfile()),
    draftHash: optional(text('Keyed hash of the content in place.', { maxLength: 128 })),
    // Where it is not known, a change goes out as it does without it: an older definition holds nothing back.
    putBegun: optional(
      shown(
        flag(
          'A change has been sent that status does not speak of yet. Noted before it is sent: what is declared is then put ' +
            'on the record, whatever draftHash says, since nobody can see which secrets are there.',
        ),
      ),
    ),
  };
}

const RECORD_STATUS = object('', recordStatus());
/** What the status of every kind with a record has in common. */
export type RecordStatus = Seen<typeof RECORD_STATUS>;
