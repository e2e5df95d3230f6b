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
  /** On a Box with publish: is the version made of the content in place? */
  published: 'Published',
  /** On an Instance, only while True: it gives values that a box does not have which is known only by its id. */
  unsuitable: 'Unsuitable',
  /** On a managed kind, only while True: the service kept old values of the fields named. */
  notApplied: 'NotApplied',
  /** On a Connection: are the credentials accepted? */
  credentialsValid: 'CredentialsValid',
  /** On a Connection: does the service answer? */
  reachable: 'Reachable',
  /** On a Connection, only while True: the service's clock and the operator's differ by over a minute. */
  clockSkew: 'ClockSkew',
  /** On a Connection, only while True: the operator has started more than three times in ten minutes. */
  restarting: 'Restarting',
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

const running = (situation: string, whatToDo = 'Wait: the operator continues by itself.'): ReasonFacts => ({
  ready: 'False',
  also: 'Reconciling',
  situation,
  whatToDo,
});

const UNTIL_DEADLINE =
  'Wait: the operator continues by itself. `status.currentOperation.deadline` says when the operation counts as stuck.';

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
  Pending: running('The operator has started to reconcile this generation.'),
  Creating: running(
    'The operator is creating the record, or searches for it because the answer to the create was lost.',
  ),
  Updating: running('The operator is writing a change to the record.'),
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
      'Nothing. To start the instance again, change the lease or powerState, or set boxwright.dev/renew on the InstanceLease to a new value.',
  },
  Observed: asDeclared('The operator has read the record. With managementPolicy Observe it writes nothing.'),
  WaitingForReference: waiting(
    'An object that this resource refers to is missing or not ready.',
    'Create the object that the message names, or wait until it is Ready. The operator then continues by itself.',
  ),
  WaitingForConnection: waiting(
    'The connection is missing or not ready.',
    'Look at the conditions of the Connection that the message names. The operator continues as soon as the Connection is ready.',
    'AsBefore',
  ),
  ServiceUnavailable: waiting(
    'The service does not answer, answers with a server error, or presents a certificate that cannot be verified.',
    'Wait, or check the service. If your own authority signed its certificate, set spec.tls.caRef of the Connection. The operator retries after 1 second, then less and less often, at least every 5 minutes.',
    'AsBefore',
  ),
  Throttled: waiting(
    'The service has asked the operator to send fewer requests.',
    'Wait, or lower spec.pace of the Connection. The operator respects the Retry-After of the service.',
    'AsBefore',
  ),
  Unknown: waiting(
    'The answer of the service does not prove whether the record exists, so the operator neither creates nor releases anything.',
    'The message names the request and its answer. Usually the credentials no longer have access to the workspace: check them and the owner. If the answer is not JSON, or is a redirect, spec.endpoint of the Connection points to a login page or a proxy.',
    'AsBefore',
  ),
  UnknownState: {
    ready: 'Unknown',
    also: 'Reconciling',
    situation:
      'The service reports a state or an operation that this version of the operator does not know. The operator does nothing until it changes.',
    whatToDo: 'Check the instance on the service. A newer version of Boxwright may know the state.',
  },
  CredentialsRejected: stalled(
    'The service refuses the credentials.',
    'Put a valid `token`, or `email` and `password`, into the Secret of the Connection. The operator tries again as soon as the Secret changes.',
  ),
  WaitingForSecret: waiting(
    'The Secret with the credentials does not exist, or lacks the required keys.',
    'Create the Secret with the key `token`, or the keys `email` and `password`. The operator checks every 30 seconds.',
  ),
  NeedsUser: stalled(
    'Only a person can resolve this: boxes that contain each other, an endpoint whose host is not allowed, an ambiguous choice, or a stored object that an older schema allowed and the present one does not.',
    'The message names the field, its value and the next step. Edit the resource accordingly.',
  ),
  NotSupported: stalled(
    'A value is not supported: it is too long for status, where the operator must record it before it acts, or it is not text.',
    'The message names the field and its limit. Change the value in the resource, in the Secret, or on the service. Until then the operator sends nothing.',
  ),
  Refused: stalled(
    'The service has rejected the request of the operator.',
    'The message quotes the service. Correct the field that it names. The operator tries again when the resource changes, and otherwise after 10 minutes, then less and less often.',
  ),
  NameTaken: stalled(
    'Another record already has this name.',
    'Set another spec.name, or adopt that record with the annotation boxwright.dev/adopt: <id>.',
  ),
  Conflict: stalled(
    'Another resource claims the record or the instance, or two leases apply to the instance.',
    'Delete one of the two resources (deletionPolicy Orphan keeps the record), or adopt the record as the message describes.',
  ),
  Ambiguous: stalled(
    'Several records carry the marker of this resource, or an earlier record of it is there again after another was made in its place.',
    'The message names their ids. Choose one with boxwright.dev/adopt: <id>, or delete the surplus records on the service. Where one of two was made in the place of the other, the one that is not chosen goes by deletionPolicy.',
  ),
  NotApplied: stalled(
    'The service accepted the change but kept the old value of the fields that the message names, or it accepted a create and shows no record.',
    'Restore the old value, or create a new resource with the new value. Where a create made nothing, find out why on the service: the operator creates it again slowly.',
  ),
  NotConverging: stalled(
    'The operator has corrected the same difference several times, and it keeps coming back.',
    'Either something else writes the fields that the message names: decide which of the two manages them, or set driftPolicy to Report or Ignore. Or the service stores another form of the value: declare the value as the service shows it.',
  ),
  VersionTaken: stalled(
    'A version of the box with the declared number exists with other content.',
    'Set spec.publish.version to a number that no version has. Versions never change.',
  ),
  UnknownVariable: stalled(
    'The resource gives a value to a variable that its box or policy box does not have, or names a nested box that is not there. Nothing is deployed, since the service would ignore the value.',
    'The message names the field, what there is, and the nearest name. Correct the name, or add the variable to the box. As the condition Unsuitable, beside a Ready of its own, it speaks of a box that is known only by its id.',
  ),
  Unsuitable: stalled(
    'A value has another type than the variable has, or is not among its options; or a required variable has no value; or the policy box does not claim what the box requires. Nothing is deployed.',
    'The message names the field and what fits. Correct the value, or change the box or policy box. As the condition Unsuitable, beside a Ready of its own, it speaks of a box that is known only by its id.',
  ),
  OperationFailed: stalled(
    'An operation failed, or runs past its deadline.',
    'The message shows the last lines of its log. Fix the cause, or raise operationTimeout. Then change the resource, or request the operation again with boxwright.dev/request-reinstall, -reconfigure or -redeploy.',
  ),
  RecordMissing: stalled(
    'The record was deleted, or the instance was terminated, outside of Kubernetes, and onMissing is Hold.',
    'Set onMissing to Recreate to create it again, or delete this resource.',
  ),
  ReferenceNotFound: stalled(
    'The service does not know an id that the resource names.',
    'Correct the id that the message names, or give the account access to the record. The operator tries again when the resource changes, and otherwise less and less often.',
  ),
  RefusedByCluster: waiting(
    'The API server does not accept a write of the operator: a policy, a quota, a limit or a missing right forbids it.',
    'The message quotes the API server and names the way out. The operator tries again when the resource changes or boxwright.dev/requested-at is set to a new value, and otherwise after 10 minutes, then less and less often.',
    'AsBefore',
  ),
  InternalError: stalled(
    'The operator failed while it reconciled the resource. This is a fault of the operator.',
    'Report it with the stack from the log of the operator. The operator tries again when the resource changes, and otherwise after 10 minutes, then less and less often.',
  ),
  Paused: {
    ready: 'AsBefore',
    situation: 'The resource is paused. A change may be waiting.',
    whatToDo: 'Remove spec.paused or the annotation boxwright.dev/paused to resume.',
  },
  Deleting: waiting('The record is being deleted.', 'Wait. The message says what the deletion waits for.'),
  InUse: waiting(
    'The deletion waits because other resources use this one.',
    'Delete the resources that the message names. The operator then deletes this one by itself.',
  ),
  CredentialsMissing: waiting(
    'The deletion waits because the credentials no longer exist.',
    'Restore the Secret and the Connection. A namespace that is being deleted accepts no new Secret: there, set deletionPolicy to Orphan, which deletes the resource and keeps the record, and delete the record on the service.',
  ),
  Protected: waiting(
    'The deletion waits because terminationProtection keeps the instance.',
    'Set spec.terminationProtection to false to end the instance, or spec.deletionPolicy to Orphan to keep it and delete the resource.',
  ),
  Published: beside('The declared version is made of the content in place.', 'Nothing.'),
  DraftAhead: beside(
    'The content of the box has changed since the declared version was made.',
    'Set spec.publish.version to a new number to make a version of the present content, or leave it for later.',
  ),
  LeaseExpiring: beside(
    'The lease ends within warnBefore.',
    'Set boxwright.dev/renew on the InstanceLease to a new value to renew it, change it, or let it end.',
  ),
  BoxReplaced: beside(
    'The Box has another record on the service than the one that the instance was deployed from.',
    'Delete the Instance and apply it again to deploy it from the new record, or ignore it.',
  ),
  BoxChanged: beside(
    'The box has changed since the instance was deployed or reinstalled.',
    'Set boxwright.dev/request-reinstall on the Instance to a new value to apply the change, or ignore it.',
  ),
  Drifted: beside(
    'The record differs from the declaration, and driftPolicy leaves it so. With Report, status.drift names the fields.',
    'Change the resource to match the record, or set driftPolicy to Correct.',
  ),
  ClockSkew: beside(
    'The service’s clock and the operator’s differ by more than a minute, so leases end that much early or late.',
    'Correct the clock that is wrong: the message says which one is ahead and by how much.',
  ),
  Restarting: beside(
    'The operator has started more than three times in ten minutes, and each start begins its waits anew.',
    'Find out why its process ends: see the log of the container before the present one (kubectl logs --previous).',
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
