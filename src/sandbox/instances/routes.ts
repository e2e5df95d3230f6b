import { Type } from 'typebox';
import { canChange, canSee, canSeeBox } from '../access.ts';
import { checkVariables } from '../boxes/content.ts';
import { idsOf, param, type Call, type Outcome, type Route } from '../edge/route.ts';
import type { OperationName } from '../edge/readings.ts';
import { badRequest, conflict, forbidden, notFound, Refusal } from '../http.ts';
import type { BoxDoc, InstanceDoc, Member, Override } from '../model.ts';
import { resolveBindings } from './bindings.ts';
import { deploy, overrides } from './deploy.ts';
import { armLease, dropLease, requestedLease, type LeaseRequest } from './lease.ts';
import { runId, startOperation } from './operations.ts';
import {
  ActivityAnswer,
  BindingInstance,
  DeployRequest,
  InstanceAnswer,
  InstanceEntry,
  ServiceAnswer,
  InstanceUpdate,
  OperationAnswer,
  PullRequest,
  ReconfigureRequest,
} from './schemas.ts';
import { freeze, freezeStack, instanceTree, revision } from './stack.ts';
import { instanceEntry, instanceText, operationView, serviceView } from './view.ts';

/** The instance of the path. @throws Refusal 404 or 403 */
function visible(call: Call): InstanceDoc {
  const { service } = call;
  const id = param(call, 'instance_id');
  const instance = service.store.instances.get(id);
  if (instance === undefined) {
    const was = service.store.settings.get(`gone:${id}`);
    throw was === undefined
      ? notFound(`there is no instance ${id}`)
      : new Refusal(service.rules.goneStatus, `instance ${id} was deleted`);
  }
  if (!canSee(call.caller, instance)) throw forbidden(`instance ${id} is not shared with you`);
  return instance;
}

function changeable(call: Call): InstanceDoc {
  const instance = visible(call);
  if (!canChange(call.caller, instance))
    throw forbidden(`you may read instance ${instance.id}, not change it`);
  return instance;
}

function pair(instance: InstanceDoc): string {
  return `${instance.state}, ${instance.operation.event}`;
}

const text = (call: Call, instance: InstanceDoc): Outcome => ({
  kind: 'text',
  text: instanceText(call.service, instance),
});

/** Starts `operation` when the state of the instance allows it. @throws Refusal 409 */
function operate(call: Call, operation: Exclude<OperationName, 'terminate' | 'delete' | 'put'>): Outcome {
  const { service } = call;
  let instance = changeable(call);
  if (!service.rules.accepts[operation](instance.state, instance.operation.event)) {
    throw conflict(`${operation}: not possible while instance ${instance.id} is (${pair(instance)})`);
  }
  if (operation === 'deploy' || operation === 'reinstall') instance = refreshed(call, instance);
  return begin(call, instance, operation);
}

function begin(call: Call, instance: InstanceDoc, operation: string): Outcome {
  const started = startOperation(call.service, instance, {
    operation,
    username: call.caller.personal,
    workspace: instance.owner,
    at: call.service.time.now(),
  });
  return { ...text(call, started), status: call.service.rules.operationStatus } as Outcome;
}

/** Re-deploying and reinstalling take the newest draft; what was deployed as a version stays that version. */
function refreshed(call: Call, instance: InstanceDoc): InstanceDoc {
  const { service } = call;
  const current = revision(service, instance.stack[0] ?? '');
  const main = service.store.boxes.get(current?.id ?? '');
  if (main === undefined) return instance;
  return { ...instance, stack: freezeStack(service, main, instance.variables) };
}

interface InstanceBody {
  boxes?: { id: string }[];
  tags?: string[];
  members?: Member[];
  variables?: Override[];
  lease?: LeaseRequest | null;
  schedule?: LeaseRequest | null;
}

function update(call: Call): Outcome {
  const { service, caller } = call;
  const instance = changeable(call);
  const body = call.body as InstanceBody;
  if (!service.rules.accepts.put(instance.state, instance.operation.event)) {
    throw conflict(`instance ${instance.id} is processing and cannot be changed now`);
  }
  const next: InstanceDoc = { ...instance };
  if (body.boxes !== undefined) next.stack = boxesFor(call, instance, body.boxes);
  if (body.tags !== undefined) next.tags = [...new Set(body.tags)];
  if (body.members !== undefined) next.members = body.members;
  if (body.variables !== undefined) {
    const tree = instanceTree(service, instance);
    if (tree !== undefined) next.variables = overrides(tree, body.variables);
    checkVariables(service, caller, next.variables);
  }
  next.bindings = resolveBindings(service, next);
  applyLease(call, next, body);
  const stored = service.store.instances.put({ ...next, updated: service.time.stamp() });
  armLease(service, stored);
  return text(call, stored);
}

function boxesFor(call: Call, instance: InstanceDoc, boxes: readonly { id: string }[]): string[] {
  const { service } = call;
  const own = new Map(instance.stack.map((key) => [revision(service, key)?.id, key]));
  const stack = boxes.map(({ id }) => {
    const kept = own.get(id);
    if (kept !== undefined) return kept;
    const box: BoxDoc | undefined = service.store.boxes.get(id);
    if (box === undefined || !canSeeBox(call.caller, box)) {
      throw badRequest(`boxes: there is no box ${id} that you can see`);
    }
    return freeze(service, box);
  });
  if (stack.length === 0) throw badRequest('boxes: an instance has at least its own box');
  return stack;
}

function applyLease(call: Call, next: InstanceDoc, body: InstanceBody): void {
  const { rules } = call.service;
  const request = body.lease === undefined ? body.schedule : body.lease;
  if (request === undefined || request === null) {
    if (rules.leaseDropped) delete next.lease;
    return;
  }
  if (request.operation === 'alwayson') {
    if (rules.leaseAlwaysOn) delete next.lease;
    return;
  }
  const lease = requestedLease(call.service, request);
  if (lease === undefined) return;
  const same = lease.expire === next.lease?.expire && lease.operation === next.lease?.operation;
  // Sent back unchanged, a lease that has released does not start again.
  next.lease =
    same && request.released === true ? { ...lease, released: next.lease?.released ?? false } : lease;
}

function remove(call: Call): Outcome {
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

function pull(call: Call): Outcome {
  const { service } = call;
  const instance = changeable(call);
  const { box_id: id } = call.body as { box_id: string };
  const version = service.store.boxes.get(id);
  if (version === undefined || !canSeeBox(call.caller, version)) {
    throw badRequest(`box_id: there is no box version ${id} that you can see`);
  }
  if ((version.version?.box ?? version.id) !== instance.box) {
    throw badRequest(`box_id: ${id} is no version of box ${instance.box}, which the instance runs`);
  }
  if (!service.rules.accepts.pull(instance.state, instance.operation.event)) {
    throw conflict(`pull: not possible while instance ${instance.id} is (${pair(instance)})`);
  }
  const stack = freezeStack(service, version, instance.variables);
  begin(call, { ...instance, stack }, 'pull');
  return { kind: 'none', status: service.rules.operationStatus };
}

/** Instances of a list, those asked for by `ids` when there is such a query. */
export function instanceList(call: Call, instances: readonly InstanceDoc[]): Outcome {
  const ids = call.service.rules.idsEverywhere ? idsOf(call) : undefined;
  const chosen = ids === undefined ? instances : instances.filter((instance) => ids.has(instance.id));
  return { kind: 'list', items: chosen.map((instance) => instanceEntry(call.service, instance)) };
}

const OPERATIONS = ['deploy', 'poweron', 'shutdown', 'reinstall'] as const;

/** Interface document section 4.2. */
export const instanceRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/instances',
    summary: "Instances accessible in the caller's personal workspace",
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: Type.Array(InstanceEntry),
    handler: (call) => {
      const { listing, caller } = call;
      const found = [
        ...listing.instances.by('owner', caller.personal),
        ...listing.instances.by('member', caller.personal),
      ];
      return instanceList(call, [...new Set(found)]);
    },
  },
  {
    method: 'POST',
    path: '/services/instances',
    summary: 'Deploy a box',
    success: 202,
    errors: [400],
    body: DeployRequest,
    answer: InstanceAnswer,
    handler: deploy,
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}',
    summary: 'Read an instance',
    success: 200,
    errors: [400, 403, 404],
    answer: InstanceAnswer,
    handler: (call) => text(call, visible(call)),
  },
  {
    method: 'PUT',
    path: '/services/instances/{instance_id}',
    summary: 'Update boxes, tags, lease, members and variables',
    success: 200,
    errors: [400, 403, 404, 409],
    body: InstanceUpdate,
    answer: InstanceAnswer,
    handler: update,
  },
  {
    method: 'DELETE',
    path: '/services/instances/{instance_id}',
    summary: 'Terminate, force-terminate or delete an instance',
    success: 202,
    alsoSuccess: [200],
    errors: [400, 403, 404, 409],
    query: ['operation'],
    handler: remove,
  },
  ...OPERATIONS.map((operation): Route => ({
    method: 'PUT',
    path: `/services/instances/{instance_id}/${operation}`,
    summary: `Start the operation ${operation}`,
    success: 202,
    errors: [409],
    answer: InstanceAnswer,
    handler: (call) => operate(call, operation),
  })),
  {
    method: 'PUT',
    path: '/services/instances/{instance_id}/reconfigure',
    summary: 'Start the operation reconfigure',
    success: 202,
    alsoSuccess: [200],
    errors: [409],
    body: ReconfigureRequest,
    answer: InstanceAnswer,
    handler: (call) => operate(call, 'reconfigure'),
  },
  {
    method: 'PUT',
    path: '/services/instances/{instance_id}/pull',
    summary: 'Apply a box version',
    success: 202,
    alsoSuccess: [200],
    errors: [400, 403, 404, 409],
    body: PullRequest,
    handler: pull,
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}/operations',
    summary: 'Past and running operations, the oldest first',
    success: 200,
    errors: [403, 404],
    answer: Type.Array(OperationAnswer),
    handler: (call) => ({
      kind: 'json',
      value: call.service.store.operations
        .by('instance', visible(call).id)
        .map((operation) => operationView(call.service, operation)),
    }),
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}/service',
    summary: 'The service behind an instance, with its machines',
    success: 200,
    errors: [403, 404],
    answer: ServiceAnswer,
    handler: (call) => ({ kind: 'json', value: serviceView(call.service, visible(call)) }),
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}/activity',
    summary: 'Activity lines, of one operation or of all',
    success: 200,
    errors: [403, 404],
    answer: Type.Array(ActivityAnswer),
    query: ['operation'],
    handler: (call) => {
      const wanted = call.query.get('operation');
      return {
        kind: 'json',
        value: call.service.store.operations
          .by('instance', visible(call).id)
          .filter((record) => wanted === null || record.operation === wanted || record.id === wanted)
          .flatMap((record) => record.activity)
          .map((entry) => {
            const { username: _username, ...activity } = entry;
            return activity;
          }),
      };
    },
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}/machine_logs',
    summary: 'What the scripts printed',
    success: 200,
    errors: [403, 404],
    query: ['machine_name', 'box', 'event', 'operation'],
    text: 'text/plain; charset=utf-8',
    handler: (call) => {
      const { store } = call.service;
      const { query } = call;
      const wanted = (name: string, value: string): boolean => !query.has(name) || query.get(name) === value;
      const logs = store.logs.by('instance', visible(call).id).filter((log) => {
        const operation = store.operations.get(log.operation)?.operation ?? '';
        return (
          wanted('machine_name', log.machine) &&
          wanted('box', log.box) &&
          wanted('event', log.event) &&
          (wanted('operation', operation) || wanted('operation', log.operation))
        );
      });
      return { kind: 'text', text: logs.map((log) => log.text).join(''), type: 'text/plain; charset=utf-8' };
    },
  },
  {
    method: 'GET',
    path: '/services/instances/{instance_id}/binding_instances',
    summary: 'Instances that are bound to this one',
    success: 200,
    errors: [403, 404],
    answer: Type.Array(BindingInstance),
    handler: (call) => {
      const { service, caller } = call;
      const instance = visible(call);
      const bound = service.store.instances
        .all()
        .filter(
          (other) =>
            canSee(caller, other) && other.bindings.some((binding) => binding.instance === instance.id),
        );
      return {
        kind: 'json',
        value: bound.map(({ id, name, icon, state, owner }) => ({
          id,
          uri: `/services/instances/${id}`,
          name,
          icon,
          state,
          owner,
        })),
      };
    },
  },
];
