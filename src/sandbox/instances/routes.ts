import { Type } from 'typebox';
import { canChange, canSee } from '../access.ts';
import type { Route } from '../edge/route.ts';
import { operate, pull, remove } from './actions.ts';
import { deploy } from './deploy.ts';
import { instanceList, shown, visible } from './lookup.ts';
import {
  ActivityAnswer,
  BindingInstance,
  DeployRequest,
  InstanceAnswer,
  InstanceEntry,
  InstanceUpdate,
  OperationAnswer,
  OperationRequest,
  PullRequest,
  ServiceAnswer,
} from './schemas.ts';
import { update } from './update.ts';
import { operationView, serviceView } from './view.ts';

const OPERATIONS = ['deploy', 'poweron', 'shutdown', 'reinstall', 'reconfigure'] as const;

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
    variants: [
      Type.Object({
        ...DeployRequest.properties,
        schema: Type.Literal('{schema_base}/deploy-instance-request'),
      }),
    ],
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
    handler: (call) => shown(call, visible(call)),
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
    alsoSuccess: [200],
    errors: [409],
    body: OperationRequest,
    bodyOptional: true,
    answer: InstanceAnswer,
    handler: (call) => operate(call, operation),
  })),
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
    handler: (call) => {
      const instance = visible(call);
      return { kind: 'json', value: serviceView(call.service, instance, canChange(call.caller, instance)) };
    },
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
