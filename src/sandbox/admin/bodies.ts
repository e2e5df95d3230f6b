import { Type, type TProperties, type TSchema } from 'typebox';
import { FAULT_MOMENTS, SPOILT_BODIES } from '../edge/faults.ts';
import { OPERATIONS } from '../edge/readings.ts';
import { OPERATION_EFFECTS } from '../instances/run/operation-faults.ts';
import { choice } from '../schemas.ts';
import { DEFAULT_DURATIONS } from '../settings.ts';

/** A field that is misspelled would make a control do something else, so none that is not known is taken. */
const closed = (fields: TProperties): TSchema => Type.Object(fields, { additionalProperties: false });
const optional = (schema: TSchema): TSchema => Type.Optional(schema);

const Text = Type.String();
const Filled = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });
/** Milliseconds; beyond a year no timer is set. */
const Milliseconds = Type.Number({ minimum: 0, maximum: 365 * 86_400_000 });
const Latency = Type.Union([Milliseconds, Type.Array(Milliseconds, { minItems: 2, maxItems: 2 })]);
const Moment = choice(...FAULT_MOMENTS);

const Empty = closed({});
const Named = closed({ name: Filled });
const Id = closed({ id: Filled });

/** What the controls take, by method and path; those that are not here take no body. */
const BODIES: Readonly<Record<string, TSchema>> = {
  'POST /faults': closed({
    match: optional(
      closed({ method: optional(Text), route: optional(Text), path: optional(Text), caller: optional(Text) }),
    ),
    latency: optional(Latency),
    status: optional(Type.Integer({ minimum: 200, maximum: 599 })),
    retryAfter: optional(Count),
    message: optional(Text),
    lose: optional(Moment),
    hang: optional(Moment),
    body: optional(choice(...SPOILT_BODIES)),
    redirect: optional(
      Type.String({ minLength: 1, pattern: '^[!-~]+$', description: 'a URI that a header can hold' }),
    ),
    skip: optional(Count),
    times: optional(Type.Integer({ minimum: 1 })),
    probability: optional(Type.Number({ minimum: 0, maximum: 1 })),
  }),
  'POST /operation-faults': closed({
    operation: optional(choice(...OPERATIONS)),
    instance: optional(Text),
    effect: choice(...OPERATION_EFFECTS),
    factor: optional(Type.Number({ minimum: 0, maximum: 1e6 })),
    times: optional(Type.Integer({ minimum: 1 })),
  }),
  'PUT /list-lag': closed({
    polls: optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    ms: optional(Milliseconds),
  }),
  'PUT /hide-created': closed({ reads: Count }),
  'PUT /latency': closed({ ms: Latency }),
  'PUT /durations': closed(
    Object.fromEntries(Object.keys(DEFAULT_DURATIONS).map((name) => [name, optional(Milliseconds)])),
  ),
  'PUT /readings': Type.Record(Text, Text),
  'POST /clock': closed({ jump: Type.Number() }),
  'POST /tokens': closed({ user: Filled }),
  'DELETE /tokens': closed({ token: optional(Filled), user: optional(Filled) }),
  'POST /accounts': closed({
    email: Type.String({
      maxLength: 254,
      pattern: '^[^\\s@]+@[^\\s@]+$',
      description: 'an email',
    }),
    password: Filled,
    token: optional(Filled),
    organization: optional(
      Type.String({ maxLength: 64, pattern: '^[\\w.-]+$', description: 'a name of an organization' }),
    ),
    administrator: optional(Type.Boolean()),
  }),
  'PUT /records/{id}': closed({ id: Filled, change: Type.Object({}) }),
  'DELETE /records/{id}': Id,
  // Checked for itself: a state says what is wrong with it.
  'PUT /state': Type.Object({}),
  'POST /snapshots': Named,
  'POST /restore': Named,
};

/** What a control takes. */
export const bodyOf = (control: string): TSchema => BODIES[control] ?? Empty;
