import { Type } from 'typebox';
import { AutomaticUpdates, LeaseInput, Member, VariableOverride } from '../schemas.ts';

const variables = Type.Array(VariableOverride, { maxItems: 2000 });
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 254 }), { maxItems: 1000 });
const boxRequest = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  variables: Type.Optional(variables),
});

/** Deploy request (interface document section 4.2). */
export const DeployRequest = Type.Object({
  schema: Type.String(),
  owner: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 30 })),
  box: boxRequest,
  policy_box: boxRequest,
  automatic_updates: Type.Optional(AutomaticUpdates),
  instance_tags: Type.Optional(tags),
  lease: Type.Optional(Type.Union([LeaseInput, Type.Null()])),
  ipv4_address: Type.Optional(Type.String({ maxLength: 15, pattern: '^\\d{1,3}(\\.\\d{1,3}){3}$' })),
});

/** PUT of an instance: only these members mean something. */
export const InstanceUpdate = Type.Object({
  boxes: Type.Optional(Type.Array(Type.Object({ id: Type.String() }), { maxItems: 1000 })),
  tags: Type.Optional(tags),
  members: Type.Optional(Type.Array(Member, { maxItems: 1000 })),
  variables: Type.Optional(variables),
  lease: Type.Optional(Type.Union([LeaseInput, Type.Null()])),
  schedule: Type.Optional(Type.Union([LeaseInput, Type.Null()])),
});

export const ReconfigureRequest = Type.Object({
  id: Type.Optional(Type.String()),
  method: Type.Optional(Type.String()),
});

export const PullRequest = Type.Object({ box_id: Type.String({ minLength: 1 }) });

export const InstanceAnswer = Type.Object({
  id: Type.String(),
  uri: Type.String(),
  schema: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  box: Type.String(),
  state: Type.Union([Type.Literal('processing'), Type.Literal('done'), Type.Literal('unavailable')]),
  operation: Type.Object({ event: Type.String(), workspace: Type.String(), created: Type.String() }),
});

export const OperationAnswer = Type.Object({
  id: Type.String(),
  instance: Type.String(),
  operation: Type.String(),
  username: Type.String(),
  state: Type.String(),
  created: Type.String(),
  updated: Type.String(),
  activity: Type.Array(
    Type.Object({
      username: Type.String(),
      text: Type.String(),
      level: Type.String(),
      created: Type.String(),
    }),
  ),
});
