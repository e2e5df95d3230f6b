import { canSeeBox } from '../access.ts';
import type { OperationName } from '../edge/readings.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { badRequest, conflict } from '../http.ts';
import type { InstanceDoc } from '../model.ts';
import { checkBindings } from './bindings.ts';
import { dropLease } from './lease.ts';
import { changeable, shown } from './lookup.ts';
import { runId, startOperation } from './run/operations.ts';
import { freezeTree, revision, treeFor } from './stack.ts';

function pair(instance: InstanceDoc): string {
  return `${instance.state}, ${instance.operation.event}`;
}

/** Starts `operation` when the state of the instance allows it. @throws Refusal 409 */
export function operate(
  call: Call,
  operation: Exclude<OperationName, 'terminate' | 'delete' | 'put'>,
): Outcome {
  const { service } = call;
  let instance = changeable(call);
  const { method = operation } = call.body as { method?: string };
  if (method !== operation) throw badRequest(`method: "${method}" is not the ${operation} of the path`);
  if (!service.rules.accepts[operation](instance.state, instance.operation.event)) {
    throw conflict(`${operation}: not possible while instance ${instance.id} is (${pair(instance)})`);
  }
  if (operation === 'deploy' || operation === 'reinstall') {
    instance = refreshed(call, instance);
    checkBindings(call.caller, service, instance, instance.bindings);
  }
  return begin(call, instance, operation);
}

function begin(call: Call, instance: InstanceDoc, operation: string): Outcome {
  const started = startOperation(call.service, instance, {
    operation,
    username: call.caller.personal,
    workspace: instance.owner,
    at: call.service.time.now(),
  });
  return { ...shown(call, started), status: call.service.rules.operationStatus } as Outcome;
}

/**
 * Re-deploying and reinstalling take the newest draft; what was deployed as a version stays that version, and
 * what the caller does not see stays as it was deployed.
 */
function refreshed(call: Call, instance: InstanceDoc): InstanceDoc {
  const { service } = call;
  const current = revision(service, instance.stack[0] ?? '');
  const main = service.store.boxes.get(current?.id ?? '');
  if (main === undefined || !canSeeBox(service, call.caller, main)) return instance;
  const tree = treeFor(service, call.caller, main, instance.variables, instance);
  return { ...instance, stack: freezeTree(service, tree, instance.machineCount) };
}

/** DELETE: terminates, force-terminates or deletes. @throws Refusal 400, 409 */
export function remove(call: Call): Outcome {
  const { service } = call;
  const { rules, store } = service;
  const wanted = call.query.get('operation') ?? rules.bareDelete;
  const instance = changeable(call);
  const { state, operation } = instance;
  const deletions: Record<string, () => Outcome> = {
    terminate: () => begin(call, instance, 'terminate'),
    force_terminate: () => begin(call, instance, 'force_terminate'),
    delete: () => {
      for (const record of store.operations.by('instance', instance.id)) store.operations.delete(record.id);
      for (const log of store.logs.by('instance', instance.id)) store.logs.delete(log.id);
      service.engine.cancel(runId(instance.id));
      dropLease(service, instance.id);
      store.instances.delete(instance.id);
      store.settings.put({ id: `gone:${instance.id}`, value: service.time.stamp() });
      return { kind: 'none', status: rules.operationStatus };
    },
  };
  const accepted: Record<string, (state: string, event: string) => boolean> = {
    terminate: rules.acceptsTerminate,
    force_terminate: rules.accepts.force_terminate,
    delete: rules.accepts.delete,
  };
  const act = deletions[wanted];
  if (act === undefined) {
    throw badRequest(`operation: "${wanted}" is not one of ${Object.keys(deletions).join(', ')}`);
  }
  if (accepted[wanted]?.(state, operation.event) !== true) {
    throw conflict(`${wanted}: not possible while instance ${instance.id} is (${pair(instance)})`);
  }
  return act();
}

/** PUT pull: applies a version by a reinstall. @throws Refusal 400, 409 */
export function pull(call: Call): Outcome {
  const { service } = call;
  const instance = changeable(call);
  const { box_id: id } = call.body as { box_id: string };
  const version = service.store.boxes.get(id);
  if (version === undefined || !canSeeBox(service, call.caller, version)) {
    throw badRequest(`box_id: there is no box version ${id} that you can see`);
  }
  if ((version.version?.box ?? version.id) !== instance.box) {
    throw badRequest(`box_id: ${id} is no version of box ${instance.box}, which the instance runs`);
  }
  if (!service.rules.accepts.pull(instance.state, instance.operation.event)) {
    throw conflict(`pull: not possible while instance ${instance.id} is (${pair(instance)})`);
  }
  const tree = treeFor(service, call.caller, version, instance.variables, instance);
  const next = { ...instance, stack: freezeTree(service, tree, instance.machineCount) };
  checkBindings(call.caller, service, next, instance.bindings);
  begin(call, next, 'pull');
  return { kind: 'none', status: service.rules.operationStatus };
}
