import {
  defaulted,
  duration,
  flag,
  list,
  object,
  oneOf,
  optional,
  shown,
  text,
  time,
  token,
  type Seen,
  type Written,
} from './schema/build.ts';
import { leaseFields, scheduledLeaseRules } from './fields/lease.ts';
import { reference } from './fields/references.ts';
import { scheduleField } from './fields/schedule.ts';
import { anyStatus } from './fields/status.ts';
import type { ManifestOf, Parsed, Resource } from './resource.ts';
import { AGE_COLUMN, defineKind, READY_COLUMN, reasonColumn, type KindDefinition } from './schema/kind.ts';

/** The spec of an InstanceLease. */
export const InstanceLeaseSpecSchema = object(
  'When an instance ends, or when it runs week by week. A new value of the annotation boxwright.dev/renew renews an end that `after` counts.',
  {
    instanceRef: reference('Instance', 'The instance that the lease is for. Can be changed.'),
    ...leaseFields(),
    schedule: scheduleField(),
    warnBefore: defaulted(
      duration(
        'How long before the end the operator warns with the condition LeaseExpiring and an event, a duration from 0s to 720h. It does not warn of the switches of a schedule. Default 1h. Can be changed.',
        '0s',
        '720h',
      ),
      '1h',
    ),
    deletionPolicy: optional(
      oneOf(
        'What happens to the lease on the instance when this resource is deleted. Delete: the operator removes it. Orphan: it stays. Absent: the default of the connection, then Delete. Can be changed.',
        ['Delete', 'Orphan'],
      ),
    ),
    paused: defaulted(
      flag(
        'While true, the operator does not change the lease, and the schedule switches nothing. Default false. Can be changed.',
      ),
      false,
    ),
  },
  { rules: scheduledLeaseRules() },
);

/** The status of an InstanceLease. */
export const InstanceLeaseStatusSchema = object('What is in force.', {
  ...anyStatus(),
  expireAt: optional(shown(time('When the lease ends.'))),
  nextChange: optional(
    shown(time('When something happens next: the warning, the end, or the next switch of the schedule.')),
  ),
  countedFrom: optional(time('From when `after` counts: the deploy, the edit or the renewal.')),
  wanted: optional(
    text('Hash of what this lease says, renewal included, for which expireAt was worked out.', {
      maxLength: 128,
    }),
  ),
  handledRenew: optional(
    token(
      'The value of the annotation boxwright.dev/renew that was last acted upon; its hash where it has over 256 characters.',
    ),
  ),
  instances: optional(
    shown(
      list(
        'The lease on each instance.',
        object('One instance.', {
          name: text('Name of the Instance.', { maxLength: 253 }),
          id: optional(text('Id of the record on the service.', { maxLength: 64 })),
          expire: optional(time('When it ends, as read back.')),
          operation: optional(oneOf('What happens at the end.', ['Shutdown', 'Terminate', 'AlwaysOn'])),
          released: flag('Whether it has been carried out.'),
          by: optional(oneOf('Who carries it out.', ['Service', 'Operator'])),
        }),
        { maxItems: 50, mapKeys: ['name'] },
      ),
    ),
  ),
});

/** `spec` of an InstanceLease, defaults filled in. */
export type InstanceLeaseSpec = Seen<typeof InstanceLeaseSpecSchema>;
/** `status` of an InstanceLease. */
export type InstanceLeaseStatus = Seen<typeof InstanceLeaseStatusSchema>;
/** An InstanceLease as the operator sees it. */
export type InstanceLease = Resource<InstanceLeaseSpec, InstanceLeaseStatus, 'InstanceLease'>;
/** An InstanceLease as a user writes it. */
export type InstanceLeaseManifest = ManifestOf<Written<typeof InstanceLeaseSpecSchema>, 'InstanceLease'>;
/** What a lease does and when, as an Instance's `spec.lease` and an InstanceLease's spec both say it. */
export type LeaseTerms = Pick<InstanceLeaseSpec, 'operation' | 'expireAt' | 'after' | 'schedule'>;

/** The kind InstanceLease. */
export const InstanceLeaseKind: KindDefinition<InstanceLease> = defineKind<InstanceLease>({
  kind: 'InstanceLease',
  plural: 'instanceleases',
  shortNames: ['bwlease'],
  description: 'When an instance ends, or runs: it is shut down or terminated, or follows a weekly schedule.',
  spec: InstanceLeaseSpecSchema,
  status: InstanceLeaseStatusSchema,
  columns: [
    READY_COLUMN,
    {
      name: 'INSTANCE',
      type: 'string',
      jsonPath: '.spec.instanceRef.name',
      description: 'The instance that the lease is for.',
    },
    {
      name: 'OPERATION',
      type: 'string',
      jsonPath: '.spec.operation',
      description: 'What happens at the end.',
    },
    { name: 'EXPIRES', type: 'string', jsonPath: '.status.expireAt', description: 'When the lease ends.' },
    {
      name: 'NEXT',
      type: 'string',
      jsonPath: '.status.nextChange',
      description: 'The warning, the end, or the next switch of the schedule.',
      priority: 1,
    },
    AGE_COLUMN,
    reasonColumn(1),
  ],
  selectableFields: ['.spec.instanceRef.name'],
});

/** Validates an InstanceLease and fills its defaults. Never throws. */
export function parseInstanceLease(raw: unknown): Parsed<InstanceLease> {
  return InstanceLeaseKind.parse(raw);
}
