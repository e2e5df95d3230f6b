import {
  defaulted,
  duration,
  flag,
  fixed,
  list,
  object,
  oneOf,
  optional,
  plainId,
  text,
  type Seen,
  type Written,
} from './schema/build.ts';
import { atMostOne, exactlyOne, keptAsIs, ownWords } from './schema/rules.ts';
import { managedFields, managedRules } from './fields/common.ts';
import { leaseFields, leaseRules } from './fields/lease.ts';
import { reference } from './fields/references.ts';
import { instanceStatus } from './fields/instance-status.ts';
import { nestedOverrides, variableValues } from './fields/variables.ts';
import type { ManifestOf, Parsed, Resource } from './resource.ts';
import {
  AGE_COLUMN,
  defineKind,
  ID_COLUMN,
  READY_COLUMN,
  reasonColumn,
  type KindDefinition,
} from './schema/kind.ts';

/** Longest name of an instance (service-behaviour.md 7). */
export const INSTANCE_NAME_LIMIT = 30;

const ID = { maxLength: 64 };
const ANEW = 'create a new Instance with the other value and delete this one';

/** The spec of an Instance. */
export const InstanceSpecSchema = object(
  'One deployment of a box through a policy box, with its operations, power and lease.',
  {
    ...managedFields(
      'Instance',
      ['Delete', 'Orphan', 'Terminate'],
      'What happens on the service when this resource is deleted. Delete: the operator terminates the machines and deletes the record. Terminate: it terminates the machines and keeps record and logs. Orphan: it keeps everything. Absent: the default of the connection, then Delete. Can be changed, even while the deletion waits.',
      'Hold',
    ),
    name: optional(
      fixed(
        'name',
        text(
          'Name on the service, 1 to 30 characters. Absent: metadata.name, which then has at most 30. Immutable, absence included.',
          { maxLength: INSTANCE_NAME_LIMIT, ...ownWords() },
        ),
        ANEW,
      ),
    ),
    boxRef: optional(
      fixed(
        'boxRef',
        reference('Box', 'What is deployed; exactly one of boxRef and boxId. Immutable.'),
        ANEW,
      ),
    ),
    boxId: optional(
      fixed(
        'boxId',
        plainId(
          'Box',
          'What is deployed, by its id on the service; exactly one of boxRef and boxId. Immutable.',
          ID,
        ),
        ANEW,
      ),
    ),
    policyBoxRef: optional(
      fixed(
        'policyBoxRef',
        reference(
          'PolicyBox',
          'Where it is deployed; exactly one of policyBoxRef and policyBoxId. Immutable.',
        ),
        ANEW,
      ),
    ),
    policyBoxId: optional(
      fixed(
        'policyBoxId',
        plainId(
          'PolicyBox',
          'Where it is deployed, by its id on the service; exactly one of policyBoxRef and policyBoxId. Immutable.',
          ID,
        ),
        ANEW,
      ),
    ),
    variables: variableValues(
      'Values for variables of the box. Unique by name. Default []. Can be changed; applyChanges says what follows.',
    ),
    overrides: nestedOverrides(
      'Values for variables of nested boxes. Unique by scope and name. Default []. Can be changed; applyChanges says what follows.',
    ),
    policyVariables: fixed(
      'policyVariables',
      variableValues(
        'Values for variables of the policy box. Unique by name. Default []. Immutable.',
        'Immutable, as all of policyVariables.',
      ),
      ANEW,
    ),
    tags: defaulted(
      list(
        'Tags of the instance. The operator does not change tags that others have added. Default []. Can be changed.',
        text('One tag, at most 30 characters.', { maxLength: 30, ...ownWords() }),
        { maxItems: 32 },
      ),
      [],
    ),
    powerState: optional(
      oneOf('Whether the machines run. Absent: the operator does not manage the power. Can be changed.', [
        'Running',
        'Stopped',
      ]),
    ),
    applyChanges: defaulted(
      oneOf(
        'What follows a change of variables: reconfigure runs the configure events, reinstall the install and configure events, None nothing. Default Reconfigure. Can be changed.',
        ['Reconfigure', 'Reinstall', 'None'],
      ),
      'Reconfigure',
    ),
    lease: optional(
      object(
        'When the instance ends; part of the deploy request. Absent: leaseRef applies, then an InstanceLease that names this instance. A lease of an adopted record stays. Can be changed.',
        leaseFields(),
        { rules: leaseRules() },
      ),
    ),
    leaseRef: optional(
      reference(
        'InstanceLease',
        'The lease of this instance; the deploy waits until it exists. Absent: lease applies. Can be changed.',
      ),
    ),
    ipv4Address: optional(
      fixed(
        'ipv4Address',
        text(
          'IPv4 address of an existing machine to deploy to. Absent: the provider makes machines. Immutable.',
          {
            maxLength: 15,
            hint: 'must be an IPv4 address, such as 10.0.0.7',
            pattern:
              '^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$',
          },
        ),
        ANEW,
      ),
    ),
    failurePolicy: defaulted(
      object('What follows a failure. Default {}. Can be changed.', {
        onDeployFailed: defaulted(
          oneOf(
            'Hold: the operator reports a failed deploy and waits for a change or a request. Default Hold. Can be changed.',
            ['Hold'],
          ),
          'Hold',
        ),
        onBoxChanged: defaulted(
          oneOf(
            'What a changed Box does for an instance that never was online. Redeploy: deploys it again once. Hold: waits for a request. Default Redeploy. Can be changed.',
            ['Redeploy', 'Hold'],
          ),
          'Redeploy',
        ),
      }),
      {},
    ),
    operationTimeout: defaulted(
      duration(
        'How long an operation may run before the operator reports it as stuck, a duration from 1s to 168h. Default 30m. Can be changed.',
        '1s',
        '168h',
      ),
      '30m',
    ),
    forceTerminateAfter: optional(
      duration(
        'How long a deletion waits for a running operation before the operator forces the termination, a duration from 0s to 168h. Absent: never. Can be changed, even while the deletion waits.',
        '0s',
        '168h',
      ),
    ),
    terminationProtection: defaulted(
      flag(
        'Keep the instance on the service while it is true, also when this resource is being deleted, which waits until it is false. With the policy of the chart the deletion itself is refused. Leases, and what is done on the service, end it all the same. Default false. Can be changed, even while the deletion waits.',
      ),
      false,
    ),
  },
  {
    rules: [
      ...managedRules('Instance'),
      exactlyOne(['boxRef', 'boxId'], 'set exactly one of boxRef and boxId'),
      exactlyOne(['policyBoxRef', 'policyBoxId'], 'set exactly one of policyBoxRef and policyBoxId'),
      atMostOne(['lease', 'leaseRef'], 'set only one of lease and leaseRef'),
      // One of a pair is there, so that the id stands for both.
      ...['boxId', 'policyBoxId', 'name', 'ipv4Address'].map((field) => keptAsIs(field, ANEW)),
    ],
  },
);

/** The status of an Instance. */
export const InstanceStatusSchema = object('What was found and what was done.', instanceStatus());

/** `spec` of an Instance, defaults filled in. */
export type InstanceSpec = Seen<typeof InstanceSpecSchema>;
/** `status` of an Instance. */
export type InstanceStatus = Seen<typeof InstanceStatusSchema>;
/** An Instance as the operator sees it. */
export type Instance = Resource<InstanceSpec, InstanceStatus, 'Instance'>;
/** An Instance as a user writes it. */
export type InstanceManifest = ManifestOf<Written<typeof InstanceSpecSchema>, 'Instance'>;
/** What stands in `status.currentOperation` (an operation that was sent, or is about to be). */
export type CurrentOperation = NonNullable<InstanceStatus['currentOperation']>;

interface Named {
  metadata: { name: string };
  spec: { name?: string };
}

/** The kind Instance. */
export const InstanceKind: KindDefinition<Instance> = defineKind<Instance>({
  kind: 'Instance',
  plural: 'instances',
  shortNames: ['bwi'],
  description: 'A running deployment of a box through a policy box.',
  spec: InstanceSpecSchema,
  status: InstanceStatusSchema,
  rootRules: [
    {
      rule: `size(self.metadata.name) <= ${INSTANCE_NAME_LIMIT} || has(self.spec.name)`,
      message: `the service allows ${INSTANCE_NAME_LIMIT} characters in the name of an instance and metadata.name is longer: set a shorter spec.name`,
      holds: (r: Named) => r.spec.name !== undefined || r.metadata.name.length <= INSTANCE_NAME_LIMIT,
    },
  ],
  columns: [
    READY_COLUMN,
    {
      name: 'PHASE',
      type: 'string',
      jsonPath: '.status.phase',
      description: 'State and operation in one word.',
    },
    { name: 'BOX', type: 'string', jsonPath: '.status.box.name', description: 'What is deployed.' },
    {
      name: 'ADDRESS',
      type: 'string',
      jsonPath: '.status.address',
      description: 'Address of the first machine.',
    },
    { name: 'LEASE', type: 'string', jsonPath: '.status.lease.expire', description: 'When the lease ends.' },
    AGE_COLUMN,
    ID_COLUMN,
    {
      name: 'STATE',
      type: 'string',
      jsonPath: '.status.state',
      description: 'State in the service’s word.',
      priority: 1,
    },
    {
      name: 'OPERATION',
      type: 'string',
      jsonPath: '.status.operation.event',
      description: 'Operation in the service’s word.',
      priority: 1,
    },
    reasonColumn(1),
  ],
  selectableFields: ['.spec.connectionRef.name', '.status.phase'],
});

/** Validates an Instance and fills its defaults. Never throws. */
export function parseInstance(raw: unknown): Parsed<Instance> {
  return InstanceKind.parse(raw);
}
