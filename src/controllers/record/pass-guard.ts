import { eventTarget } from '../event-target.ts';
import { KubeApiError, KubeTransportError, type ReconcileContext, type Result } from '../../kube/index.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { OperatorContext } from '../context.ts';
import type { Attempts } from './attempts.ts';
import { MetadataNotKeptError } from './metadata.ts';
import { verdict, type Verdict } from './status/verdict.ts';
import { connectionOf, type AnyOfOurs, type StatusWriter } from './status/writer.ts';

/** A pass that met somebody else's change begins anew after so long, milliseconds. */
const CONFLICT_MS = 200;
/** So many passes in a row fail at an API server that may recover before status says so. */
const TOLD_AFTER = 3;
/** Answers to a write that may be another one in a moment, though nothing about the write changes. */
const PASSING: ReadonlySet<number> = new Set([401, 408, 409, 410, 429]);

/**
 * Stands around every pass: what the API server refuses, and what the operator itself fails at, is a verdict like
 * any other. It stands in a condition, and the pass is made again slowly, or when somebody changes something.
 */
export class PassGuard<R extends AnyOfOurs> {
  readonly #context: Pick<OperatorContext, 'log' | 'recorder' | 'secrets'>;
  readonly #type: ResourceType;
  readonly #status: Pick<StatusWriter<R>, 'write'>;

  constructor(
    context: Pick<OperatorContext, 'log' | 'recorder' | 'secrets'>,
    type: ResourceType,
    status: Pick<StatusWriter<R>, 'write'>,
  ) {
    this.#context = context;
    this.#type = type;
    this.#status = status;
  }

  /**
   * Makes the pass, unless one over the same generation was broken off and its next try is not due. Throws only what
   * may pass by itself: the queue counts that, and comes back.
   */
  async run(
    resource: R,
    attempts: Attempts,
    run: ReconcileContext,
    pass: () => Promise<Result>,
  ): Promise<Result> {
    const { generation, deletionTimestamp } = resource.metadata;
    const fingerprint = `${generation}/${deletionTimestamp ?? ''}`;
    const held = run.priority.byPerson ? undefined : attempts.held('pass', fingerprint);
    if (held !== undefined) return { requeueAfterMs: held.retryAfterMs };
    try {
      const result = await pass();
      attempts.clearAspect('pass');
      return result;
    } catch (error) {
      if (run.signal.aborted) throw error;
      if (isGone(error, resource)) {
        const gone = verdict('Deleting', 'The resource is gone');
        return { requeueAfterMs: attempts.missed('pass', fingerprint, gone).recheckAfterMs ?? 0 };
      }
      if (error instanceof KubeApiError && error.isConflict) {
        return { requeueAfterMs: CONFLICT_MS, lane: 'kept' };
      }
      if (mayPass(error)) {
        if (run.failures + 1 >= TOLD_AFTER) await this.#say(resource, clusterVerdict(error), error, run);
        throw error;
      }
      const said = brokenOff(error);
      // Rights come and go, and nothing tells the operator.
      const { recheckAfterMs } = lacksRight(error)
        ? attempts.missed('pass', fingerprint, said)
        : attempts.refused('pass', fingerprint, said);
      await this.#say(resource, said, error, run);
      return recheckAfterMs === undefined ? {} : { requeueAfterMs: recheckAfterMs };
    }
  }

  /** Says it in status; where that is refused as well, an event and the log are what is left. */
  async #say(resource: R, said: Verdict, error: unknown, run: ReconcileContext): Promise<void> {
    const { log, recorder, secrets } = this.#context;
    const { namespace, name } = resource.metadata;
    const { kind } = this.#type;
    log.error({ kind, namespace, name, reason: said.reason, err: error }, 'a pass was broken off');
    try {
      await this.#status.write(resource, { verdict: said, fields: {} }, run.signal);
    } catch (refused) {
      if (run.signal.aborted) throw refused;
      log.error({ kind, namespace, name, err: refused }, 'status cannot say why a pass was broken off');
      recorder.event({
        regarding: eventTarget(kind, resource),
        type: 'Warning',
        reason: said.reason,
        action: 'Reconcile',
        note: secrets.mask(connectionOf(resource), said.message),
      });
    }
  }
}

/** A write to a resource that is not there any more has nothing left to say: the watch brings its end. */
function isGone(error: unknown, { metadata }: AnyOfOurs): boolean {
  return (
    error instanceof KubeApiError &&
    error.isNotFound &&
    error.method !== 'GET' &&
    error.path.split('/').includes(metadata.name)
  );
}

function mayPass(error: unknown): error is KubeApiError | KubeTransportError {
  if (error instanceof KubeTransportError) return true;
  if (!(error instanceof KubeApiError)) return false;
  return error.status >= 500 || error.isNotFound || PASSING.has(error.status);
}

/** What the API server says where a quota or a policy stands in the way. */
const OF_QUOTA = /quota/i;
const OF_POLICY = /admission|webhook|\bpolic(y|ies)\b|denied the request/i;

/** Rights come first: the names of what they are missing for may say anything. */
function lacksRight(error: unknown): boolean {
  if (!(error instanceof KubeApiError && error.status === 403)) return false;
  const [, after] = error.statusMessage.split(' is forbidden: User "', 2);
  return after?.includes('" cannot ') === true;
}

/** What to say of what no later try mends. */
function brokenOff(error: unknown): Verdict {
  if (error instanceof KubeApiError) return clusterVerdict(error);
  return error instanceof MetadataNotKeptError ? notKeptVerdict(error) : failureVerdict(error);
}

/** Nobody refused anything: whoever changed it says nothing. */
function notKeptVerdict({ what }: MetadataNotKeptError): Verdict {
  return verdict(
    'RefusedByCluster',
    `The cluster accepted a change of this resource’s metadata and did not keep ${what}, so nothing is sent to the ` +
      'service: exempt the service account of the operator from the policy or webhook that changes what it writes',
  );
}

function clusterVerdict(error: KubeApiError | KubeTransportError): Verdict {
  if (error instanceof KubeTransportError) {
    return verdict(
      'RefusedByCluster',
      'The API server does not answer the operator: check the network and the server',
    );
  }
  const { method, path, status, reason, statusMessage } = error;
  const what =
    method !== 'PATCH'
      ? `${method} ${path}`
      : `a change of this resource’s ${path.endsWith('/status') ? 'status' : 'metadata'}`;
  return verdict(
    'RefusedByCluster',
    `The API server answered ${status}${reason === '' ? '' : ` ${reason}`} to ${what}: ${statusMessage}. ${wayOut(error)}`,
  );
}

const GRANT = 'Grant the operator the rights of its chart';

/** What the API server's words call for; each is one sentence without a full stop. */
function wayOut(error: KubeApiError): string {
  const { status, statusMessage } = error;
  if (lacksRight(error)) return GRANT;
  if (status >= 500) return 'Check the API server and its webhooks';
  if (OF_QUOTA.test(statusMessage)) return 'Raise the quota, or delete what uses it up';
  if (/too (long|large)|may not be more than|must have at most/i.test(statusMessage) || status === 413) {
    return 'Remove annotations or other content from the resource until it fits';
  }
  if (OF_POLICY.test(statusMessage)) {
    return 'Exempt the service account of the operator from the policy, or change the resource so that the policy admits it';
  }
  if (status === 403) return GRANT;
  return 'Apply the custom resource definitions of this version of the operator';
}

/** A fault of the operator. Only the name of the error is shown: its text may quote a value. */
function failureVerdict(error: unknown): Verdict {
  const name = error instanceof Error ? error.name : typeof error;
  return verdict(
    'InternalError',
    `The operator failed while it reconciled this resource (${name}), which is a fault of the operator: report it with ` +
      'the stack in its log. A change of the resource may avoid it',
  );
}
