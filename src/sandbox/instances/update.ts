import { canSeeBox } from '../access.ts';
import { checkVariables } from '../boxes/content.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { badRequest, conflict } from '../http.ts';
import type { BoxDoc, InstanceDoc, Member, Override } from '../model.ts';
import { resolveBindings } from './bindings.ts';
import { overrides } from './deploy.ts';
import { armLease, requestedLease, type LeaseRequest } from './lease.ts';
import { changeable, shown } from './lookup.ts';
import { freeze, instanceTree, revision } from './stack.ts';

interface InstanceBody {
  boxes?: { id: string }[];
  tags?: string[];
  members?: Member[];
  variables?: Override[];
  lease?: LeaseRequest | null;
  schedule?: LeaseRequest | null;
}

/** PUT of an instance: boxes, tags, lease, members and variables. @throws Refusal 400, 409 */
export function update(call: Call): Outcome {
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
  return shown(call, stored);
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
