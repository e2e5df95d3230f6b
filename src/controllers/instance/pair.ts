import type { Phase } from '../../api/phases.ts';
import type { Reason } from '../../api/reasons.ts';
import type { InstanceOperationName, InstanceRecord } from '../../service/index.ts';

/** State and operation of a record: only together do they say what a person would (service-behaviour.md 2.1). */
export interface Pair {
  state: string;
  event: string;
}

/** The pair of a record; missing parts read as empty words, which no rule knows. */
export function pairOf(record: InstanceRecord): Pair {
  return { state: record.state ?? '', event: record.operation?.event ?? '' };
}

const RUNNING: Readonly<Record<string, Phase>> = {
  deploy: 'Deploying',
  shutdown: 'ShuttingDown',
  shutdown_service: 'ShuttingDown',
  poweron: 'PoweringOn',
  reinstall: 'Reinstalling',
  reconfigure: 'Reconfiguring',
  terminate: 'Terminating',
  terminate_service: 'Terminating',
};

const ENDED: Readonly<Record<string, Phase>> = {
  deploy: 'Online',
  poweron: 'Online',
  reinstall: 'Online',
  reconfigure: 'Online',
  snapshot: 'Online',
  shutdown: 'ShutDown',
  shutdown_service: 'ShutDown',
  terminate: 'Terminated',
  terminate_service: 'Terminated',
};

/** The pair in one word; `Unknown` for states and events that are not known here. */
export function phaseOf(pair: Pair): Phase {
  switch (pair.state) {
    case 'processing':
      return own(RUNNING, pair.event) ?? 'Unknown';
    case 'done':
      return own(ENDED, pair.event) ?? 'Unknown';
    case 'unavailable':
      return own(ENDED, pair.event) === undefined ? 'Unknown' : 'Failed';
    default:
      return 'Unknown';
  }
}

/** The reason that goes with a phase in which an operation runs. */
export function reasonOfRunning(phase: Phase): Reason | undefined {
  switch (phase) {
    case 'Deploying':
    case 'ShuttingDown':
    case 'PoweringOn':
    case 'Reinstalling':
    case 'Reconfiguring':
    case 'Terminating':
      return phase;
    default:
      return undefined;
  }
}

/** Whether the service takes an operation in a pair (service-behaviour.md 2.2). */
export function accepts(operation: InstanceOperationName, pair: Pair): boolean {
  const phase = phaseOf(pair);
  const failed = (event: string): boolean => pair.state === 'unavailable' && pair.event === event;
  switch (operation) {
    case 'reconfigure':
      return phase === 'Online' || failed('reconfigure');
    case 'reinstall':
      return phase === 'Online' || failed('reinstall') || failed('reconfigure');
    case 'shutdown':
      return phase === 'Online';
    case 'poweron':
      return phase === 'ShutDown';
    case 'deploy':
      return failed('deploy');
    default:
      return operation satisfies never;
  }
}

/**
 * Whether two words name the same operation: shutdown and terminate have a second phase with its own word, and a
 * terminate may have been forced.
 */
export function sameOperation(a: string, b: string): boolean {
  return baseEvent(a) === baseEvent(b);
}

/** The name that an operation has however it was asked for, and whether it runs or has ended. */
export function baseEvent(event: string): string {
  return event.replace(/^force_|_service$/g, '');
}

function own(table: Readonly<Record<string, Phase>>, key: string): Phase | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
