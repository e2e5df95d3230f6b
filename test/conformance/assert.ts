import assert from 'node:assert/strict';
import type { Answer } from './client.ts';
import type { Record_ } from './world.ts';

export { assert };

const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isTimestamp(value: unknown): void {
  assert.match(String(value), TIMESTAMP);
}

export function isUuid(value: unknown): void {
  assert.match(String(value), UUID);
}

export function isText(...values: unknown[]): void {
  for (const value of values) assert.equal(typeof value, 'string');
}

export function isBoolean(...values: unknown[]): void {
  for (const value of values) assert.equal(typeof value, 'boolean');
}

export function isList(...values: unknown[]): void {
  for (const value of values) assert.ok(Array.isArray(value), `${JSON.stringify(value)} is no list`);
}

export function isOneOf(value: unknown, ...choices: unknown[]): void {
  assert.ok(choices.includes(value), `${String(value)} is not one of ${choices.join(', ')}`);
}

export function has(record: Record_, ...names: string[]): void {
  for (const name of names) assert.ok(name in record, `${name} is missing in ${JSON.stringify(record)}`);
}

export function answers(answer: Answer, ...statuses: number[]): void {
  assert.ok(
    statuses.includes(answer.status),
    `answered ${answer.status} instead of ${statuses.join(' or ')}: ${answer.text.slice(0, 300)}`,
  );
}

/** The deeper equality of node:assert on a part: every member of `part` is in `whole`. */
export function holds(whole: Record_, part: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(part)) assert.deepEqual(whole[name], value, name);
}
