import { Type, type TSchema } from 'typebox';
import { BoxAnswer } from '../boxes/schemas.ts';
import {
  AutomaticUpdates,
  choice,
  LeaseInput,
  Member,
  Timestamp,
  Variable,
  VariableOverride,
} from '../schemas.ts';

const variables = Type.Array(VariableOverride, { maxItems: 2000 });
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 254 }), { maxItems: 1000 });
const octet = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const Ipv4 = Type.String({
  maxLength: 15,
  pattern: `^${octet}(\\.${octet}){3}$`,
  description: 'an IPv4 address',
  examples: ['127.0.0.2'],
});
const boxRequest = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  variables: Type.Optional(variables),
});

/** Deploy request (interface document section 4.2). */
export const DeployRequest = Type.Object({
  schema: Type.String(),
  owner: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  box: boxRequest,
  policy_box: boxRequest,
  automatic_updates: Type.Optional(AutomaticUpdates),
  instance_tags: Type.Optional(tags),
  lease: Type.Optional(Type.Union([LeaseInput, Type.Null()])),
  ipv4_address: Type.Optional(Ipv4),
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

/** What reconfigure lists; the other operations take it too, and none of them needs it. */
export const OperationRequest = Type.Object({
  id: Type.Optional(Type.String()),
  method: Type.Optional(Type.String()),
});

export const PullRequest = Type.Object({ box_id: Type.String({ minLength: 1 }) });

const nullable = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);
const State = choice('processing', 'done', 'unavailable');

export const MachineAnswer = Type.Object({
  name: Type.String(),
  state: State,
  workflow: Type.Array(
    Type.Object({
      box: Type.String({ pattern: '^[\\p{L}\\p{N}_.]*$' }),
      event: Type.String({ maxLength: 256 }),
      script: Type.String({ maxLength: 512 }),
    }),
  ),
});

const fields = {
  id: Type.String({ pattern: '^i-', maxLength: 36, examples: ['i-4fk2p9'] }),
  uri: Type.String(),
  schema: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  box: Type.String(),
  automatic_updates: AutomaticUpdates,
  variables: Type.Array(Variable),
  tags: Type.Array(Type.String()),
  state: State,
  operation: Type.Object({ event: Type.String(), workspace: Type.String(), created: Timestamp }),
  lease: Type.Optional(
    Type.Object({
      operation: choice('shutdown', 'terminate', 'alwayson'),
      expire: Type.Optional(Timestamp),
      released: Type.Boolean(),
    }),
  ),
  icon: nullable(Type.String()),
  created: Timestamp,
  updated: Timestamp,
  deleted: nullable(Timestamp),
};

/** An instance in answers (interface document section 2.6). */
export const InstanceAnswer = Type.Object({
  ...fields,
  policy_box: BoxAnswer,
  boxes: Type.Array(BoxAnswer),
  service: Type.Object({
    id: Type.String({ maxLength: 30 }),
    type: Type.String(),
    machines: Type.Array(MachineAnswer),
  }),
  bindings: Type.Array(Type.Object({ name: Type.String(), instance: Type.String() })),
  members: Type.Array(Member),
  ipv4_address: Type.Optional(Type.String()),
});

/** A list entry: it may lack parts. */
export const InstanceEntry = Type.Object({
  ...fields,
  policy_box: Type.Optional(BoxAnswer),
  boxes: Type.Optional(Type.Array(BoxAnswer)),
  service: Type.Object({
    id: Type.String(),
    type: Type.String(),
    machines: Type.Optional(Type.Array(MachineAnswer)),
  }),
  bindings: Type.Optional(Type.Array(Type.Unknown())),
  members: Type.Optional(Type.Array(Member)),
});

const ActivityLine = { text: Type.String(), level: Type.String(), created: Timestamp };

/** A line of /activity; the last four are there for script steps. */
export const ActivityAnswer = Type.Object({
  ...ActivityLine,
  box: Type.Optional(Type.String()),
  machine: Type.Optional(Type.String()),
  event: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer()),
});

export const OperationAnswer = Type.Object({
  id: Type.String(),
  schema: Type.String(),
  instance: Type.String(),
  operation: Type.String(),
  username: Type.String(),
  workspace: Type.String(),
  state: State,
  created: Timestamp,
  updated: Timestamp,
  deleted: nullable(Timestamp),
  activity: Type.Array(Type.Object({ username: Type.String(), ...ActivityLine })),
});

export const ServiceAnswer = Type.Object({
  id: Type.String(),
  type: Type.String(),
  schema: Type.String(),
  profile: Type.Object({}),
  provider_id: nullable(Type.String()),
  organization: Type.String(),
  icon: nullable(Type.String()),
  tags: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), value: Type.String() })),
  variables: Type.Array(Variable),
  state: Type.String(),
  state_history: Type.Array(
    Type.Object({ state: choice('up', 'down'), started: Timestamp, completed: nullable(Timestamp) }),
  ),
  operation: Type.String(),
  // Who may only read the instance gets no tokens.
  token: Type.Optional(Type.String()),
  machines: Type.Array(
    Type.Object({
      name: Type.String(),
      state: State,
      schema: Type.String(),
      token: Type.Optional(Type.String()),
      address: Type.Object({}),
      external_id: Type.String(),
      agent_version: Type.String(),
    }),
  ),
});

export const BindingInstance = Type.Object({
  id: Type.String(),
  uri: Type.String(),
  name: Type.String(),
  icon: nullable(Type.String()),
  state: State,
  owner: Type.String(),
});
