import type { KubeAnswer } from '../../../src/kube/port.ts';
import type { ResourceType } from '../../../src/kube/object.ts';

/** One cause of a 422: where, which kind of mistake, and the words. */
export interface Cause {
  /** Path as the API server writes it, such as `spec.variables[0].name`. */
  field: string;
  reason:
    | 'FieldValueInvalid'
    | 'FieldValueRequired'
    | 'FieldValueForbidden'
    | 'FieldValueNotSupported'
    | 'FieldValueTypeInvalid'
    | 'FieldValueDuplicate'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldManagerConflict';
  message: string;
}

/** Thrown inside the fake; becomes a Status answer at its edge. */
export class Refusal extends Error {
  readonly answer: KubeAnswer;

  constructor(code: number, reason: string, message: string, details?: object) {
    super(message);
    this.name = 'Refusal';
    this.answer = {
      status: code,
      headers: { 'content-type': 'application/json' },
      body: statusBody(code, reason, message, details),
    };
  }
}

export function statusBody(code: number, reason: string, message: string, details?: object): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** `boxes.boxwright.dev`, or `secrets` in the core group. */
export function qualified(type: ResourceType): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

function named(type: ResourceType, name: string): { name: string; group?: string; kind: string } {
  return { name, ...(type.group === '' ? {} : { group: type.group }), kind: type.plural };
}

export function notFound(type: ResourceType, name: string): Refusal {
  return new Refusal(404, 'NotFound', `${qualified(type)} "${name}" not found`, named(type, name));
}

export function alreadyExists(type: ResourceType, name: string): Refusal {
  return new Refusal(409, 'AlreadyExists', `${qualified(type)} "${name}" already exists`, named(type, name));
}

export function conflict(type: ResourceType, name: string, why?: string): Refusal {
  const words =
    why ?? 'the object has been modified; please apply your changes to the latest version and try again';
  return new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${words}`,
    named(type, name),
  );
}

export function invalid(type: ResourceType, name: string, causes: readonly Cause[]): Refusal {
  const words = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = words.length === 1 ? words.join('') : `[${words.join(', ')}]`;
  const group = type.group === '' ? '' : `.${type.group}`;
  return new Refusal(422, 'Invalid', `${type.kind}${group} "${name}" is invalid: ${list}`, {
    name,
    ...(type.group === '' ? {} : { group: type.group }),
    kind: type.kind,
    causes,
  });
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, 'BadRequest', message);
}
