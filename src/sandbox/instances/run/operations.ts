import type { ActivityLine, InstanceDoc, Machine, OperationDoc } from '../../model.ts';
import type { Service } from '../../service.ts';
import { resolveBindings } from '../bindings.ts';
import { scriptSteps, type Step } from './plan.ts';
import { instanceTree } from '../stack.ts';
import { webhooksOf } from '../webhooks/webhooks.ts';

/** Data of an operation's job. */
export interface Run extends Record<string, unknown> {
  instance: string;
  operation: string;
  event: string;
  started: number;
  total: number;
  steps: Step[];
  index: number;
  effect?: 'stuck' | 'fail' | 'slow';
}

/** Id of the job that carries an instance's running operation on: there is one at most. */
export const runId = (instance: string): string => `run:${instance}`;

/** What each operation is called in its activity lines. */
const VERBS: Readonly<Record<string, string>> = {
  deploy: 'Deploying',
  poweron: 'Powering on',
  shutdown: 'Shutting down',
  reinstall: 'Reinstalling',
  reconfigure: 'Reconfiguring',
  pull: 'Applying a box version to',
  terminate: 'Terminating',
  force_terminate: 'Force-terminating',
};

/** The event that an operation shows while it runs. */
const EVENTS: Readonly<Record<string, string>> = { force_terminate: 'terminate', pull: 'reinstall' };

export interface Start {
  operation: string;
  username: string;
  workspace: string;
  /** Service time, milliseconds. */
  at: number;
}

/**
 * Accepts an operation: state, event and `updated` move in one step, a record of it is made, and a job will
 * carry it out (service-behaviour.md 2.4). An operation that runs already is cut off.
 */
export function startOperation(service: Service, instance: InstanceDoc, start: Start): InstanceDoc {
  const { store, time, ids } = service;
  const { operation, username, workspace, at } = start;
  abandon(service, instance, at);
  const event = EVENTS[operation] ?? operation;
  const stamp = time.stamp(at);
  const tree = instanceTree(service, instance);
  const machines = machineNames(instance);
  const hooked = webhooksOf(service, instance).length > 0;
  const steps: Step[] = operation === 'deploy' ? [{ do: 'machines' }] : [];
  if (operation === 'deploy' && hooked) steps.push({ do: 'webhooks', operation });
  if (tree !== undefined) steps.push(...scriptSteps(operation, tree, machines));
  if (event === 'terminate' && hooked) steps.push({ do: 'webhooks', operation: event });
  const second = service.rules.secondPhase[event];
  if (second !== undefined) steps.push({ do: 'phase', event: second });
  steps.push({ do: 'finish' });

  const record: OperationDoc = {
    id: ids.uuid(),
    instance: instance.id,
    operation: operation === 'force_terminate' ? 'terminate' : operation,
    username,
    workspace,
    state: 'processing',
    created: stamp,
    updated: stamp,
    deleted: null,
    activity: [line(username, `${VERBS[operation] ?? operation} ${instance.name}`, 'start', stamp)],
  };
  store.operations.put(record);
  const fault = service.operationFaults.take(operation, instance);
  const durations = service.settings.durations as unknown as Record<string, number>;
  const total = (durations[operation] ?? 1000) * (fault?.effect === 'slow' ? (fault.factor ?? 10) : 1);
  const run: Run = {
    instance: instance.id,
    operation: record.id,
    event,
    started: at,
    total,
    steps,
    index: 0,
    ...(fault === undefined ? {} : { effect: fault.effect }),
  };
  const stuck = fault?.effect === 'stuck';
  service.engine.schedule({
    id: runId(instance.id),
    kind: 'operation',
    due: stuck ? null : dueOf(run),
    data: run,
  });
  return store.instances.put({
    ...instance,
    bindings: resolveBindings(service, instance),
    state: 'processing',
    operation: { event, workspace, created: stamp },
    updated: stamp,
    service: {
      ...instance.service,
      machines: instance.service.machines.map((machine) => ({
        ...machine,
        state: 'processing',
        workflow: operation === 'deploy' ? [] : machine.workflow,
      })),
    },
  });
}

/** When the next step of a run is due: the steps share the operation's time evenly. */
export function dueOf(run: Run): number {
  return run.started + (run.total * (run.index + 1)) / run.steps.length;
}

/** The operation that runs is over because another one takes its place. */
function abandon(service: Service, instance: InstanceDoc, at: number): void {
  const job = service.store.jobs.get(runId(instance.id));
  if (job === undefined) return;
  service.engine.cancel(job.id);
  service.scripts?.interrupt(instance.id);
  finishRecord(service, (job.data as Run).operation, 'unavailable', at);
}

export function finishRecord(service: Service, id: string, state: string, at: number): void {
  const record = service.store.operations.get(id);
  if (record !== undefined) {
    service.store.operations.put({ ...record, state, updated: service.time.stamp(at) });
  }
}

export function line(username: string, text: string, level: string, created: string): ActivityLine {
  return { username, text, level, created };
}

/** The names of the machines that the instance has, or will have: `<service>-<n>`. */
export function machineNames(instance: InstanceDoc): string[] {
  const present = instance.service.machines.map((machine: Machine) => machine.name);
  if (present.length > 0) return present;
  const count = instance.machineCount;
  return Array.from({ length: count }, (_, n) => `${instance.service.id}-${n + 1}`);
}
