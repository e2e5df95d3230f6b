import type { Instance } from '../../api/instance.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { Uploads } from '../content/uploads.ts';
import type { Memory } from '../record/memory.ts';
import type { DeclaredRecord } from './fit.ts';

/** Where a machine can be reached, as status shows it. */
type Addresses = NonNullable<Instance['status']['machines']>[number]['addresses'];

/** What this process remembers of an Instance beyond what it remembers of every record. */
export interface InstanceMemory extends Memory<InstanceRecord> {
  readonly uploads: Uploads;
  /** Keyed hash of the variables that this process sent with the deploy. */
  deployedHash: string | undefined;
  /** Whether this process has read the secrets of `policyVariables`, which are sent only once. */
  policySecretsKnown: boolean;
  /** What boxes declare that are known only by their ids, by id. */
  readonly declared: Map<string, DeclaredRecord>;
  /** The operation that this process has noted in status, and how sending it ended. */
  operation: SentOperation | undefined;
  /** Keyed hash of the variables that the last PUT of this process brought; `whileDown`: a power-on applies them. */
  put: { id: string; hash: string; whileDown: boolean } | undefined;
  /** `terminateTries` as this process has noted it in status for the next terminate. */
  terminateNoted: number | undefined;
  /** The lease that the last PUT brought, and whether the service keeps it. */
  leasePut: { terms: string; kept: boolean | undefined } | undefined;
  /** The machines' addresses as last read, and the operation since which they were. */
  addresses:
    | {
        operation: string;
        byMachine: ReadonlyMap<string, Addresses | undefined>;
        /** The machines themselves, where the record that is known does not show them. */
        machines: NonNullable<Instance['status']['machines']> | undefined;
        /** The one of a service without machines. */
        ofService: string | undefined;
        complete: boolean;
      }
    | undefined;
  /** The switch of a schedule that power was last decided by, RFC 3339. */
  switched: string | undefined;
  /** Since when a power-on waits for content, monotonic milliseconds. */
  powerOnSince: number | undefined;
  /** The operation that is seen running, and since when this process sees it, monotonic milliseconds. */
  running: { phase: string; since: number } | undefined;
}

/** An operation that this process has begun. */
export interface SentOperation {
  /** Event, start and try of `status.currentOperation`. */
  key: string;
  outcome: 'unsent' | 'accepted' | 'unknown' | 'conflict';
  /** It puts right what somebody else has changed. */
  correcting: boolean;
  /** Since when this process knows of it, monotonic milliseconds. */
  since: number;
  /** Since when nothing has moved that could be its effect, monotonic milliseconds. */
  quietSince: number;
  /** `updated` of the record at that time. */
  updated: string | undefined;
}
