import type { ResourceType } from '../../../src/kube/object.ts';
import { isRecord, type JsonRecord, type StoredObject } from './objects.ts';
import { badRequest, type Cause } from './refusals.ts';

/** Six digits, no fewer and no more: `metav1.RFC3339Micro`. */
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/** Defaults and checks of the built-in kinds, as far as an operator can run into them. */
export function builtInMistakes(
  type: ResourceType,
  object: StoredObject,
): { object: StoredObject; causes: readonly Cause[] } {
  switch (type.kind) {
    case 'Secret':
      return { object: withStringData(object), causes: [] };
    case 'Lease':
      return { object, causes: leaseMistakes(object) };
    case 'Event':
      return { object, causes: eventMistakes(object) };
    case 'Namespace':
      return {
        object: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' }, ...object },
        causes: [],
      };
    default:
      return { object, causes: [] };
  }
}

function withStringData(object: StoredObject): StoredObject {
  const { stringData, ...rest } = object;
  const result: StoredObject = { ...rest, apiVersion: 'v1', kind: 'Secret', type: rest['type'] ?? 'Opaque' };
  if (!isRecord(stringData)) return result;
  const data: JsonRecord = { ...(isRecord(result['data']) ? result['data'] : {}) };
  for (const [key, value] of Object.entries(stringData)) {
    data[key] = Buffer.from(String(value), 'utf8').toString('base64');
  }
  return { ...result, data };
}

function leaseMistakes(object: StoredObject): Cause[] {
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  microTimes(spec, ['acquireTime', 'renewTime']);
  const causes: Cause[] = [];
  const duration = spec['leaseDurationSeconds'];
  if (typeof duration === 'number' && duration <= 0) {
    causes.push({
      field: 'spec.leaseDurationSeconds',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${duration}: must be greater than 0`,
    });
  }
  const transitions = spec['leaseTransitions'];
  if (typeof transitions === 'number' && transitions < 0) {
    causes.push({
      field: 'spec.leaseTransitions',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${transitions}: must be greater than or equal to 0`,
    });
  }
  return causes;
}

function eventMistakes(object: StoredObject): Cause[] {
  microTimes(object, ['eventTime']);
  if (isRecord(object['series'])) microTimes(object['series'], ['lastObservedTime']);
  const causes: Cause[] = [];
  const required: [string, number][] = [
    ['reportingController', 253],
    ['reportingInstance', 128],
    ['action', 128],
    ['reason', 128],
  ];
  for (const [field, most] of required) {
    const value = object[field];
    if (typeof value !== 'string' || value === '') {
      causes.push({ field, reason: 'FieldValueRequired', message: 'Required value' });
    } else if (value.length > most) {
      causes.push({
        field,
        reason: 'FieldValueInvalid',
        message: `Invalid value: "": can have at most ${most} characters`,
      });
    }
  }
  if (object['eventTime'] === undefined) {
    causes.push({ field: 'eventTime', reason: 'FieldValueRequired', message: 'Required value' });
  }
  if (typeof object['note'] === 'string' && Buffer.byteLength(object['note']) > 1_024) {
    causes.push({
      // The message is checked in the words of the older version of the API.
      field: 'message',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "": can have at most 1024 characters',
    });
  }
  if (object['type'] !== 'Normal' && object['type'] !== 'Warning') {
    causes.push({
      field: 'type',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "": has invalid value',
    });
  }
  return causes;
}

function microTimes(object: JsonRecord, fields: readonly string[]): void {
  for (const field of fields) {
    const value = object[field];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || !MICRO_TIME.test(value)) {
      throw badRequest(
        `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse`,
      );
    }
  }
}
