import { canSeeBox } from '../access.ts';
import { checkVariables } from '../boxes/content.ts';
import { boxView } from '../boxes/view.ts';
import { differing, keptWarnings } from '../edge/kept.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { warningHeader } from '../edge/warning.ts';
import { badRequest, conflict } from '../http.ts';
import type { BoxDoc, InstanceDoc, Member, Override } from '../model.ts';
import { checkBindings, resolveBindings } from './bindings.ts';
import { armLease, requestedLease, type LeaseRequest } from './lease.ts';
import { changeable, shown } from './lookup.ts';
import { givenOverrides, typedOverrides } from './overrides.ts';
import { checkScripts } from './run/plan.ts';
import { freeze, instanceTree, revision } from './stack.ts';
import { instanceHead } from './view.ts';

interface InstanceBody {
  boxes?: Record<string, unknown>[];
  tags?: string[];
  members?: Member[];
  variables?: Override[];
  lease?: LeaseRequest | null;
  schedule?: LeaseRequest | null;
  [field: string]: unknown;
}

/** Fields that a client may have meant to change (interface document section 4.2 lists those that it can). */
const KEPT = ['name', 'owner', 'box', 'automatic_updates', 'icon'] as const;
const KEPT_OF_BOX = [
  'name',
  'description',
  'variables',
  'events',
  'requirements',
  'profile',
  'claims',
] as const;

/** PUT of an instance: boxes, tags, lease, members and variables. @throws Refusal 400, 409 */
export function update(call: Call): Outcome {
  const { service, caller } = call;
  const instance = changeable(call);
  const body = call.body as InstanceBody;
  if (!service.rules.accepts.put(instance.state, instance.operation.event)) {
    throw conflict(`instance ${instance.id} is processing and cannot be changed now`);
  }
  const next: InstanceDoc = { ...instance };
  const warnings = keptWarnings(differing(KEPT, instanceHead(service, instance), body));
  if (body.boxes !== undefined) {
    next.stack = boxesFor(call, instance, body.boxes);
    warnings.push(...contentWarnings(call, next, body.boxes));
  }
  if (body.tags !== undefined) next.tags = [...new Set(body.tags)];
  if (body.members !== undefined) next.members = body.members;
  const tree = instanceTree(service, next);
  if (tree !== undefined) checkScripts(tree, instance.machineCount);
  if (body.variables !== undefined && tree !== undefined) {
    const given = givenOverrides(service, tree.box, body.variables, instance.variables);
    next.variables = typedOverrides(tree, given);
    checkVariables(service, caller, next.variables, instance.variables);
  }
  checkBindings(caller, service, next, instance.bindings);
  next.bindings = resolveBindings(service, next);
  applyLease(call, next, body);
  const stored = service.store.instances.put({ ...next, updated: service.time.stamp() });
  armLease(service, stored);
  return { ...shown(call, stored), headers: warningHeader(warnings) } as Outcome;
}

function boxesFor(call: Call, instance: InstanceDoc, boxes: readonly Record<string, unknown>[]): string[] {
  const { service } = call;
  const own = new Map(instance.stack.map((key) => [revision(service, key)?.id, key]));
  const stack = boxes.map(({ id: given }) => {
    const id = String(given);
    const kept = own.get(id);
    if (kept !== undefined) return kept;
    const box: BoxDoc | undefined = service.store.boxes.get(id);
    if (box === undefined || !canSeeBox(service, call.caller, box)) {
      throw badRequest(`boxes: there is no box ${id} that you can see`);
    }
    return freeze(service, box);
  });
  if (stack.length === 0) throw badRequest('boxes: an instance has at least its own box');
  return [...new Set(stack)];
}

/** Boxes are named by their ids; other content than they have is not taken from here. */
function contentWarnings(
  { service }: Call,
  next: InstanceDoc,
  boxes: readonly Record<string, unknown>[],
): string[] {
  const views = new Map(
    next.stack.map((key) => {
      const box = revision(service, key);
      return [box?.id, box === undefined ? {} : boxView(service, box)];
    }),
  );
  return boxes.flatMap((given) => {
    const id = String(given['id']);
    const names = differing(KEPT_OF_BOX, views.get(id) ?? {}, given);
    return names.map((name) => `boxes: ${name} of box ${id} was not changed; change the box itself`);
  });
}

function applyLease(call: Call, next: InstanceDoc, body: InstanceBody): void {
  const { rules } = call.service;
  // `schedule` is what the interface lists as updatable; `lease` is what a client sends back as it was.
  const request = body.schedule ?? body.lease;
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
