import { canSeeBox, canSeeProvider, ownerFor } from '../access.ts';
import { checkVariables } from '../boxes/content.ts';
import { unmasked } from '../boxes/masks.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { badRequest } from '../http.ts';
import type { BoxDoc, InstanceDoc, Lease, Override, Variable } from '../model.ts';
import { checkBindings } from './bindings.ts';
import type { Service } from '../service.ts';
import { armLease, lifespanLease, requestedLease, type LeaseRequest } from './lease.ts';
import { allocate, checkQuota, type Demand } from '../organizations/cost-centers.ts';
import { checkProviderEnabled } from '../organizations/gates.ts';
import { startOperation } from './run/operations.ts';
import { checkRequired, givenOverrides, typedOverrides } from './overrides.ts';
import { freeze, freezeTree, treeFor } from './stack.ts';
import { instanceText } from './view.ts';

interface DeployBody {
  schema: string;
  owner?: string;
  name?: string;
  box: { id: string; variables?: Override[] };
  policy_box: { id: string; variables?: Override[] };
  automatic_updates?: string;
  instance_tags?: string[];
  lease?: LeaseRequest | null;
  ipv4_address?: string;
  [field: string]: unknown;
}

/** Gone since this release (interface document section 4.2). */
const REMOVED = ['environment', 'profile', 'variables'] as const;

/** POST /services/instances. */
export function deploy(call: Call): Outcome {
  const { service, caller } = call;
  const body = call.body as DeployBody;
  for (const name of REMOVED) {
    if (body[name] !== undefined) {
      throw badRequest(`${name}: was removed; use policy_box and box.variables`);
    }
  }
  const schema = `${service.schemaBase}/deploy-instance-request`;
  if (body.schema !== schema) throw badRequest(`schema: must be ${schema}`);
  checkName(service, body.name);
  const owner = ownerFor(caller, body.owner);
  const main = boxFor(call, 'box', body.box.id);
  const policy = boxFor(call, 'policy_box', body.policy_box.id);
  if (policy.kind !== 'policy' && policy.kind !== 'cloudformation') {
    throw badRequest(`policy_box.id: ${policy.id} is a ${policy.kind} box, not a deployment policy box`);
  }
  if (main.version !== undefined && !service.rules.deployVersions) {
    throw badRequest(`box.id: ${main.id} is a version; name its box ${main.version.box}`);
  }
  checkProvider(call, policy);
  const given = givenOverrides(service, main, body.box.variables ?? []);
  const tree = treeFor(service, caller, main, given);
  const variables = typedOverrides(tree, given);
  checkVariables(service, caller, variables);
  checkRequired(tree, variables);
  const demand = demandOf(owner, main, policy);
  checkQuota(service, caller.organization, demand);
  const now = service.time.now();
  const lease = leaseFor(call, body.lease, policy, now);
  const stack = freezeTree(service, tree, machineCount(policy));
  const instance = newInstance(call, { body, owner, main, policy, stack, variables, lease });
  checkBindings(caller, service, instance);
  const started = startOperation(service, instance, {
    operation: 'deploy',
    username: caller.personal,
    workspace: owner,
    at: now,
  });
  armLease(service, started);
  allocate(service, caller.organization, started, demand);
  return { kind: 'text', text: instanceText(service, started) };
}

function checkName({ rules }: Service, name = ''): void {
  if (name.length > rules.nameLimit) {
    throw badRequest(`name: has ${name.length} characters, at most ${rules.nameLimit} are taken`);
  }
}

function boxFor(call: Call, field: string, id: string): BoxDoc {
  const box = call.service.store.boxes.get(id);
  if (box === undefined || !canSeeBox(call.service, call.caller, box)) {
    throw badRequest(`${field}.id: there is no box ${id} that you can see`);
  }
  return box;
}

function checkProvider(call: Call, policy: BoxDoc): void {
  const id = String(policy.fields['provider_id']);
  const provider = call.service.store.providers.get(id);
  if (provider === undefined || !canSeeProvider(call.service, call.caller, provider)) {
    throw badRequest(`policy_box: its provider ${id} does not exist or is not shared with you`);
  }
  if (provider.state !== 'ready' && provider.state !== 'processing') {
    throw badRequest(`policy_box: its provider "${provider.name}" is ${provider.state}, not ready`);
  }
  checkProviderEnabled(call.service, call.caller.organization, provider.type);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What the deployment takes from the quotas of a cost center. */
function demandOf(owner: string, main: BoxDoc, policy: BoxDoc): Demand {
  const profile = (policy.fields['profile'] ?? {}) as Record<string, unknown>;
  return {
    workspace: owner,
    provider: String(policy.fields['provider_id']),
    machines: machineCount(policy),
    flavor: text(profile['flavor']),
    region: text(profile['location']),
    serviceType: serviceType(main, policy),
  };
}

/** `instances` of the profile, 1 to 100. */
function machineCount(policy: BoxDoc): number {
  const profile = (policy.fields['profile'] ?? {}) as Record<string, unknown>;
  const count = Number(profile['instances'] ?? 1);
  return Number.isInteger(count) && count > 0 ? Math.min(count, 100) : 1;
}

function leaseFor(
  call: Call,
  request: LeaseRequest | null | undefined,
  policy: BoxDoc,
  now: number,
): Lease | undefined {
  return request === undefined || request === null
    ? lifespanLease(policy, now)
    : requestedLease(call.service, request);
}

interface Parts {
  body: DeployBody;
  owner: string;
  main: BoxDoc;
  policy: BoxDoc;
  stack: string[];
  variables: Variable[];
  lease: Lease | undefined;
}

function newInstance(call: Call, parts: Parts): InstanceDoc {
  const { service } = call;
  const { body, owner, main, policy, stack, variables, lease } = parts;
  let id = service.ids.instance();
  while (service.store.instances.get(id) !== undefined) id = service.ids.instance();
  const stamp = service.time.stamp();
  return {
    id,
    name: body.name ?? main.name.slice(0, service.rules.nameLimit),
    owner,
    box: main.version?.box ?? main.id,
    stack,
    policy: freeze(service, policy),
    policyVariables: unmasked(service, body.policy_box.variables ?? [], policy.variables).map((variable) => ({
      ...variable,
      type: variable.type ?? 'Text',
    })),
    automatic_updates: body.automatic_updates ?? 'off',
    service: {
      id: service.ids.service(),
      type: serviceType(main, policy),
      token: service.ids.uuid(),
      state: 'processing',
      machines: [],
      state_history: [],
    },
    variables,
    tags: body.instance_tags ?? [],
    bindings: [],
    members: [],
    state: 'processing',
    operation: { event: 'deploy', workspace: owner, created: stamp },
    ...(lease === undefined ? {} : { lease }),
    icon: main.icon === '' ? null : main.icon,
    ...(body.ipv4_address === undefined ? {} : { ipv4_address: body.ipv4_address }),
    created: stamp,
    updated: stamp,
    deleted: null,
    organization: call.caller.organization,
    machineCount: machineCount(policy),
  };
}

function serviceType(main: BoxDoc, policy: BoxDoc): string {
  const cloud = [main, policy].find((box) => box.kind === 'cloudformation');
  if (cloud !== undefined) return String(cloud.fields['type']);
  const words = [main.fields['requirements'], policy.fields['claims']].flat().join(' ');
  return /windows/i.test(words) ? 'Windows Compute' : 'Linux Compute';
}
