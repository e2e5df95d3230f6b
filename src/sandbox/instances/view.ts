import { boxText, boxView } from '../boxes/view.ts';
import type { InstanceDoc, Lease, OperationDoc, Variable } from '../model.ts';
import type { Service } from '../service.ts';
import { computedTags } from '../organizations/tags.ts';
import { revision, shownBox } from './stack.ts';

/** What is the instance's own; the boxes are shared with others and stand apart. */
function own(service: Service, instance: InstanceDoc): Record<string, unknown> {
  return {
    ...instanceHead(service, instance),
    service: {
      id: instance.service.id,
      type: instance.service.type,
      machines: instance.service.machines.map(({ name, state, workflow }) => ({ name, state, workflow })),
    },
    variables: instance.variables.map(service.rules.showVariable),
    bindings: instance.bindings,
    members: instance.members,
    ...(instance.ipv4_address === undefined ? {} : { ipv4_address: instance.ipv4_address }),
  };
}

export function instanceHead(service: Service, instance: InstanceDoc): Record<string, unknown> {
  return {
    id: instance.id,
    uri: `/services/instances/${instance.id}`,
    schema: `${service.schemaBase}/instance`,
    name: instance.name,
    owner: instance.owner,
    box: instance.box,
    automatic_updates: instance.automatic_updates,
    tags: instance.tags,
    state: instance.state,
    operation: instance.operation,
    ...leaseView(service, instance.lease),
    icon: instance.icon,
    created: instance.created,
    updated: instance.updated,
    deleted: instance.deleted,
  };
}

function leaseView(service: Service, lease: Lease | undefined): { lease?: Lease } {
  return lease === undefined ? service.rules.noLease : { lease };
}

function policyText(service: Service, instance: InstanceDoc): string {
  const show = service.rules.showVariable;
  const policy = shownBox(service, instance.policy);
  const variables = instance.policyVariables.map(show);
  if (policy === undefined) return JSON.stringify({ variables });
  if (variables.length === 0) return boxText(service, policy);
  const view = boxView(service, policy);
  return JSON.stringify({ ...view, variables: [...(view['variables'] as Variable[]), ...variables] });
}

/** An instance as the interface document's section 2.6 has it, as JSON text; that of its boxes is kept, since many share them. */
export function instanceText(service: Service, instance: InstanceDoc): string {
  const text = JSON.stringify(own(service, instance));
  const boxes = instance.stack.flatMap((id) => {
    const box = shownBox(service, id);
    return box === undefined ? [] : [boxText(service, box)];
  });
  return `${text.slice(0, -1)},"policy_box":${policyText(service, instance)},"boxes":[${boxes.join(',')}]}`;
}

/** A list entry; lean ones lack machines, boxes and policy box (service-behaviour.md 2.4). */
export function instanceEntry(service: Service, instance: InstanceDoc): string {
  if (!service.rules.leanInstances) return instanceText(service, instance);
  return JSON.stringify({
    ...instanceHead(service, instance),
    service: { id: instance.service.id, type: instance.service.type },
    variables: instance.variables.map(service.rules.showVariable),
  });
}

/** An instance operation record (interface document section 2.6). */
export function operationView(service: Service, operation: OperationDoc): Record<string, unknown> {
  return {
    id: operation.id,
    schema: `${service.schemaBase}/instance-operation`,
    instance: operation.instance,
    operation: operation.operation,
    username: operation.username,
    workspace: operation.workspace,
    state: operation.state,
    created: operation.created,
    updated: operation.updated,
    deleted: operation.deleted,
    activity: operation.activity.map(({ username, text, level, created }) => ({
      username,
      text,
      level,
      created,
    })),
  };
}

/** What `/service` answers (service-behaviour.md 2.7), with its tokens or without. */
export function serviceView(
  service: Service,
  instance: InstanceDoc,
  secrets: boolean,
): Record<string, unknown> {
  const policy = revision(service, instance.policy);
  const { machines, token, state, state_history, id, type } = instance.service;
  return {
    id,
    type,
    schema: `${service.schemaBase}/service`,
    profile: policy?.fields['profile'] ?? {},
    provider_id: policy?.fields['provider_id'] ?? null,
    organization: policy?.organization ?? 'public',
    icon: instance.icon,
    tags: computedTags(service, instance.organization, instance),
    variables: instance.policyVariables.map(service.rules.showVariable),
    state,
    state_history,
    operation: instance.operation.event,
    ...(secrets ? { token } : {}),
    machines: machines.map((machine) => ({
      name: machine.name,
      state: machine.state,
      schema: `${service.schemaBase}/machine`,
      ...(secrets ? { token: machine.token } : {}),
      address: machine.address,
      external_id: machine.external_id,
      agent_version: '4.0',
    })),
    created: instance.created,
    updated: instance.updated,
  };
}
