import { flag, integer, list, object, oneOf, optional, shown, text, time, token } from '../schema/build.ts';
import { TOKEN_LIMIT } from '../tokens.ts';
import { PHASES } from '../phases.ts';
import { recordStatus } from './status.ts';

/** The service's own words (interface document sections 2.6 and 3), shown as they come. */
const WORD = { maxLength: 64 };

function handled(operation: string) {
  return optional(
    token(
      `The last value of boxwright.dev/request-${operation} that was carried out, or refused: refusedRequest says why. Its hash where it has over 256 characters.`,
    ),
  );
}

const currentOperation = optional(
  object('An operation that was sent, or is about to be; written before it is sent.', {
    event: text('The operation, in the service’s word, such as reinstall.', WORD),
    token: optional(
      text('What asked for it: the operation, a colon, and the request token.', {
        maxLength: TOKEN_LIMIT + 32,
      }),
    ),
    updatedBefore: optional(text('`updated` of the record before it was sent.', WORD)),
    lastOperationId: optional(text('The newest operation of the record before it was sent.', WORD)),
    startedAt: time('When it was first about to be sent.'),
    deadline: time('When it counts as stuck.'),
    try: integer('How often it was sent, counted from 1.', { minimum: 1, maximum: 1_000 }),
    changeHash: optional(text('Keyed hash of the declaration that it applies.', { maxLength: 128 })),
    released: optional(time('The end of the lease that it carries out.')),
  }),
);

const lastOperation = optional(
  object('The operation that ended last.', {
    event: text('The operation, in the service’s word.', WORD),
    outcome: oneOf('How it ended. Superseded: somebody else acted meanwhile.', [
      'Succeeded',
      'Failed',
      'Superseded',
    ]),
    startedAt: optional(time('When it was sent.')),
    endedAt: optional(time('When its end was seen.')),
    message: optional(
      shown(text('What the activity log said of a failure.', { minLength: 0, maxLength: 1024 })),
    ),
  }),
);

const lease = optional(
  object('The lease in force.', {
    operation: oneOf('What happens at the end.', ['Shutdown', 'Terminate', 'AlwaysOn']),
    expire: optional(time('When it ends.')),
    released: flag('Whether it has been carried out.'),
    by: optional(oneOf('Who carries it out.', ['Service', 'Operator'])),
    source: optional(
      object('Where the lease comes from. Absent: from the service itself.', {
        kind: oneOf('Instance for spec.lease.', ['Instance', 'InstanceLease']),
        name: text('Name of the resource.', { maxLength: 253 }),
        uid: text('uid of the resource.', WORD),
        deletionPolicy: oneOf('What happens to the lease when its source is gone.', ['Delete', 'Orphan']),
        terms: text('Hash of what the source says, renewal included, for which expire was worked out.', {
          maxLength: 128,
        }),
        expire: optional(time('The end that was worked out, a whole minute.')),
        power: optional(
          oneOf('What the schedule of the source says at present. Absent: it has no schedule.', [
            'Running',
            'Stopped',
          ]),
        ),
        since: optional(time('The switch of the schedule with which that began.')),
      }),
    ),
  }),
);

/** Status fields of an Instance. */
export function instanceStatus() {
  return {
    ...recordStatus(),
    state: optional(shown(text('State of the record, in the service’s word.', WORD))),
    operation: optional(
      shown(
        object('Operation of the record, in the service’s words.', {
          event: text('The event.', WORD),
          workspace: optional(text('Who asked for it.', WORD)),
          created: optional(text('When, as the service says it.', WORD)),
        }),
      ),
    ),
    phase: optional(shown(oneOf('State and operation in one word.', PHASES))),
    service: optional(
      shown(
        object('The running service.', {
          id: optional(text('Id of the service.', WORD)),
          type: optional(text('Type of the service, such as Linux Compute.', { maxLength: 128 })),
        }),
      ),
    ),
    address: optional(shown(text('Address of the first machine, its public one where it has one.'))),
    machines: optional(
      shown(
        list(
          'Machines of the instance, at most 50 are listed.',
          object('One machine.', {
            name: text('Name of the machine.'),
            state: optional(text('State of the machine, in the service’s word.', WORD)),
            addresses: optional(
              object('Addresses of the machine.', {
                public: optional(text('Public address.')),
                private: optional(text('Private address.')),
              }),
            ),
          }),
          { maxItems: 50, mapKeys: ['name'] },
        ),
      ),
    ),
    lease,
    box: optional(
      object('The deployed box.', {
        id: text('Id of the box on the service.', WORD),
        name: optional(
          shown(text('Name of the Box resource, or of the box on the service.', { maxLength: 253 })),
        ),
        draftHash: optional(
          text('`status.draftHash` of the Box when its scripts were installed last.', { maxLength: 128 }),
        ),
        nested: optional(
          shown(
            list(
              'The boxes that it contains, at any depth, nearest first up to 50.',
              object('A box that it contains, at any depth.', {
                name: text('Name of the Box resource.', { maxLength: 253 }),
                draftHash: text('Its `status.draftHash` when the scripts were installed last.', {
                  maxLength: 128,
                }),
              }),
              { maxItems: 50, mapKeys: ['name'] },
            ),
          ),
        ),
      }),
    ),
    policyBox: optional(
      shown(
        object('The policy box it was deployed through.', {
          id: text('Id of the policy box on the service.', WORD),
          name: optional(
            text('Name of the PolicyBox resource, or of the policy box on the service.', { maxLength: 253 }),
          ),
        }),
      ),
    ),
    currentOperation,
    lastOperation,
    handledRequests: optional(
      object('Request tokens that were carried out or refused.', {
        reinstall: handled('reinstall'),
        reconfigure: handled('reconfigure'),
        redeploy: handled('redeploy'),
      }),
    ),
    refusedRequest: optional(
      object('The last request that the state of the instance did not allow.', {
        operation: text('The operation, as in the annotation.', WORD),
        message: text('Why.', { minLength: 0, maxLength: 1024 }),
      }),
    ),
    appliedHash: optional(
      text('Keyed hash of the declaration that was last applied as a whole.', { maxLength: 128 }),
    ),
    appliedTags: optional(
      text('Hash of the tags that the record was last seen to have as declared.', { maxLength: 128 }),
    ),
    // Where an older definition drops it, a change by hand is put back on the record alone: nothing is held for that.
    appliedOperation: optional(
      shown(
        text('The operation that the record last showed with the declared variables in place.', {
          maxLength: 128,
        }),
      ),
    ),
    pendingHash: optional(
      text(
        'Keyed hash of variables that were put on the record while the instance was shut down, and `updated` of that record: the next power-on applies them.',
        { maxLength: 128 },
      ),
    ),
    armed: optional(
      text('Hash of power state, lease and renewal for which power and lease are in force.', {
        maxLength: 128,
      }),
    ),
    releasedExpire: optional(
      time('End of the lease that was carried out last; each end is carried out once.'),
    ),
    terminateTries: optional(
      integer('How often terminate was sent while deleting.', { minimum: 0, maximum: 1_000 }),
    ),
  };
}
