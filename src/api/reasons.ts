/**
 * Condition types and the closed list of reasons. Every `reason` that the operator writes stands here, with
 * what it means for Ready and what a person does about it; the reference page is made from this table.
 */

/** Types of conditions. */
export const CONDITIONS = {
  /** Always there: is the resource as declared? */
  ready: 'Ready',
  /** Only while True: the operator is at it, or waits for something that may come. */
  reconciling: 'Reconciling',
  /** Only while True, never with Reconciling: nothing helps until a person acts. */
  stalled: 'Stalled',
  /** Only while True, with driftPolicy Report: status.drift names fields. */
  drifted: 'Drifted',
  /** On an Instance and an InstanceLease, only while True: the end is nearer than warnBefore. */
  leaseExpiring: 'LeaseExpiring',
  /** On an InstanceLease, only while True: another lease has the instance. */
  conflict: 'Conflict',
  /** On an Instance, only while True: its box has changed since the deploy. */
  updateAvailable: 'UpdateAvailable',
  /** On a managed kind, only while True: the service kept old values of the fields named. */
  notApplied: 'NotApplied',
  /** On a Connection: are the credentials accepted? */
  credentialsValid: 'CredentialsValid',
  /** On a Connection: does the service answer? */
  reachable: 'Reachable',
  /** On a Connection, only while True: the service's clock and the operator's differ by over a minute. */
  clockSkew: 'ClockSkew',
} as const;

/** What a reason says about the resource. */
export interface ReasonFacts {
  /** Status of Ready that goes with it. `AsBefore`: kept where settled and unchanged, else False. */
  ready: 'True' | 'False' | 'Unknown' | 'AsBefore';
  /** The condition that stands beside Ready, True and with the same reason. */
  also?: 'Reconciling' | 'Stalled';
  /** What the situation is, one sentence. */
  situation: string;
  /** What a person does about it. */
  whatToDo: string;
}

const running = (situation: string, whatToDo = 'Wait: it goes on by itself.'): ReasonFacts => ({
  ready: 'False',
  also: 'Reconciling',
  situation,
  whatToDo,
});

const UNTIL_DEADLINE =
  'Wait: it goes on by itself. `status.currentOperation.deadline` says when it counts as stuck.';

const asDeclared = (situation: string): ReasonFacts => ({
  ready: 'True',
  situation,
  whatToDo: 'Nothing.',
});

const waiting = (
  situation: string,
  whatToDo: string,
  ready: ReasonFacts['ready'] = 'False',
): ReasonFacts => ({ ready, also: 'Reconciling', situation, whatToDo });

const stalled = (situation: string, whatToDo: string): ReasonFacts => ({
  ready: 'False',
  also: 'Stalled',
  situation,
  whatToDo,
});

/** Reasons of conditions beside Ready, which they leave as it is. */
const beside = (situation: string, whatToDo: string): ReasonFacts => ({
  ready: 'AsBefore',
  situation,
  whatToDo,
});

/** Every reason, with what it says. */
export const REASONS = {
  Pending: running('Handling of this generation has begun.'),
  Creating: running('The record is being made, or looked for after an answer was lost.'),
  Updating: running('A change is being put on the record.'),
  Deploying: running('The instance is being deployed.'),
  ShuttingDown: running('The instance is being shut down.', UNTIL_DEADLINE),
  PoweringOn: running('The instance is being powered on.', UNTIL_DEADLINE),
  Reinstalling: running('The instance is being reinstalled.', UNTIL_DEADLINE),
  Reconfiguring: running('The instance is being reconfigured.', UNTIL_DEADLINE),
  Terminating: running('The instance is being terminated.', UNTIL_DEADLINE),
  Settled: asDeclared('The record is as declared.'),
  ShutDown: asDeclared('The instance is shut down, as declared.'),
  LeaseReleased: {
    ready: 'True',
    situation: 'The lease has ended and was carried out, as declared.',
    whatToDo:
      'Nothing, or arm it anew: change the lease or powerState, or set a new boxwright.dev/renew on the InstanceLease.',
  },
  Observed: asDeclared('The record was read; with managementPolicy Observe nothing is written to it.'),
  WaitingForReference: waiting(
    'Something that this resource refers to is missing or not ready.',
    'Create what the message names, or wait until it is Ready: this resource goes on by itself.',
  ),
  WaitingForConnection: waiting(
    'The connection is missing or not ready.',
    'Look at the Connection that the message names: its conditions say why. This resource goes on by itself.',
    'AsBefore',
  ),
  ServiceUnavailable: waiting(
    'The service does not answer, answers with a server error, or shows a certificate that cannot be verified.',
    'Wait, or look at the service. A certificate of your own authority is named in spec.tls.caRef of the Connection. It is tried again, first after a second, then ever more slowly up to 5 minutes.',
    'AsBefore',
  ),
  Throttled: waiting(
    'The service asks for fewer calls.',
    'Wait, or lower spec.pace of the Connection. The service’s Retry-After is honoured.',
    'AsBefore',
  ),
  Unknown: waiting(
    'A read proved nothing, so nothing is created and nothing is let go.',
    'The message names the call and its answer. Most often the credentials no longer see the workspace: check them and the owner. An answer that is not JSON, or leads elsewhere, means that spec.endpoint of the Connection points at a login page or a proxy.',
    'AsBefore',
  ),
  UnknownState: {
    ready: 'Unknown',
    also: 'Reconciling',
    situation: 'The service shows a state or an operation that is not known here; it is never acted upon.',
    whatToDo: 'Look at the instance on the service. A newer version of Boxwright may know the word.',
  },
  CredentialsRejected: stalled(
    'The service refuses the credentials.',
    'Put a valid `token`, or `email` and `password`, into the Secret of the Connection. It is tried again as soon as the Secret changes.',
  ),
  WaitingForSecret: waiting(
    'The Secret with the credentials is missing, or lacks the keys.',
    'Create the Secret with key `token`, or keys `email` and `password`. It is looked for every 30 s.',
  ),
  NeedsUser: stalled(
    'The declaration cannot be carried out as it is: boxes that nest each other in a cycle, an endpoint whose host is not allowed, a choice that only a person can make, or a stored object that does not fit its schema because an older version let it through.',
    'The message names the field, its value and the next step: edit the resource accordingly.',
  ),
  NotSupported: stalled(
    'Something that the operator must note before it acts does not fit into status, such as an id of the service that is too long.',
    'The message names the field and its limit: make the value shorter in the resource, or on the service. Nothing is sent until then.',
  ),
  Refused: stalled(
    'The service refuses what was sent.',
    'The message quotes the service. Change the field that it speaks of; it is tried again on a change, and slowly.',
  ),
  NameTaken: stalled(
    'Another record has the name already.',
    'Choose another spec.name, or take that record over with the annotation boxwright.dev/adopt: <id>.',
  ),
  Conflict: stalled(
    'The record, or the instance, is claimed by another resource, or has two leases.',
    'Delete one of the two claimants (deletionPolicy Orphan keeps the record), or take the record over as the message says.',
  ),
  Ambiguous: stalled(
    'Several records carry the marker of this resource.',
    'The message names their ids. Delete the ones too many on the service, or say which with boxwright.dev/adopt: <id>.',
  ),
  NotApplied: stalled(
    'The service took the change but kept the old value of the fields named.',
    'Put the old value back, or make a new resource with the new one.',
  ),
  NotConverging: stalled(
    'The same difference comes back again and again.',
    'The message says which: either somebody else writes the fields named (agree who has them, or set driftPolicy to Report or Ignore), or the service keeps another form of the value (declare it as the service shows it).',
  ),
  OperationFailed: stalled(
    'An operation failed, or runs past its deadline.',
    'The message shows the last lines of its log. Mend the cause, or raise operationTimeout, then change the resource or ask again with boxwright.dev/request-reinstall, -reconfigure or -redeploy.',
  ),
  RecordMissing: stalled(
    'Somebody else deleted the record, or terminated the instance, and onMissing is Hold.',
    'Set onMissing to Recreate to make it again, or delete this resource.',
  ),
  Paused: {
    ready: 'AsBefore',
    situation: 'The resource is paused: in step, or with a change that waits.',
    whatToDo: 'Take spec.paused, or the annotation boxwright.dev/paused, away to go on.',
  },
  Deleting: waiting('The record is being deleted.', 'Wait. The message says what is pending.'),
  InUse: waiting(
    'Deletion waits: other resources use this one.',
    'Delete the resources that the message names. This one then goes by itself.',
  ),
  CredentialsMissing: waiting(
    'Deletion waits: the credentials are gone.',
    'Bring the Secret and the Connection back, or set deletionPolicy to Orphan, which lets the resource go and keeps the record.',
  ),
  Protected: waiting(
    'Deletion waits: the resource is protected.',
    'Take the protection away, or set deletionPolicy to Orphan.',
  ),
  LeaseExpiring: beside(
    'The lease ends within warnBefore.',
    'Renew it with a new boxwright.dev/renew on the InstanceLease, change it, or let it end.',
  ),
  BoxChanged: beside(
    'The box has changed since the instance was deployed or reinstalled.',
    'Ask for it with a new boxwright.dev/request-reinstall on the Instance, or leave it.',
  ),
  Drifted: beside(
    'The record differs from the declaration in the fields that status.drift names, and driftPolicy is Report.',
    'Declare what the record says, or set driftPolicy to Correct.',
  ),
  ClockSkew: beside(
    'The service’s clock and the operator’s differ by more than a minute, so leases end that much early or late.',
    'Set the clocks: the message says which one is ahead and by how much.',
  ),
  CredentialsAccepted: beside('The service accepts the credentials.', 'Nothing.'),
  Answered: beside('The service answers.', 'Nothing.'),
} as const satisfies Record<string, ReasonFacts>;

/** A reason of the closed list. */
export type Reason = keyof typeof REASONS;

/** The facts of a reason, widened for code that walks them. */
export function factsOf(reason: Reason): ReasonFacts {
  return REASONS[reason];
}
