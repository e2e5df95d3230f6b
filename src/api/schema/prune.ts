import type { Problem } from '../resource.ts';
import type { StructuralSchema } from './structural.ts';

/** Depth and size of JSON of any shape, so that nobody walks into the deep end. */
const OPEN_DEPTH = 12;
const OPEN_NODES = 2_000;
/** Of a key, characters: with its path it stands in lists of differences once for each value below. */
const OPEN_KEY = 256;

/** Keys that no map of ours may have. */
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * A copy of a value with what its schema does not know left out, as the API server does on reading; a null
 * where a default stands counts as absent, again as there. What is kept of open objects is bounded, and
 * keys that would reach an object's prototype are reported.
 */
export function prune(schema: StructuralSchema, value: unknown, path: string, problems: Problem[]): unknown {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    return copyOpen(value, path, problems, { left: OPEN_NODES }, 0);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return value.map((item, index) => prune(items, item, `${path}[${index}]`, problems));
  }
  if (!isFields(value) || schema.properties === undefined) return value;
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue;
    const member = value[name];
    if (member === undefined || (member === null && field.default !== undefined)) continue;
    kept.push([name, prune(field, member, under(path, name), problems)]);
  }
  return Object.fromEntries(kept);
}

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of a field: `spec` and `name` give `spec.name`. */
export function under(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function copyOpen(
  value: unknown,
  path: string,
  problems: Problem[],
  budget: { left: number },
  depth: number,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= OPEN_DEPTH || budget.left <= 0) {
    problems.push({
      path,
      value: '',
      message: `${path} is too deep or too large (at most ${OPEN_DEPTH} levels, ${OPEN_NODES} values): make it smaller`,
    });
    return null;
  }
  if (Array.isArray(value)) {
    budget.left -= value.length;
    return value.map((item, index) => copyOpen(item, `${path}[${index}]`, problems, budget, depth + 1));
  }
  const members = Object.entries(value);
  budget.left -= members.length;
  const kept: [string, unknown][] = [];
  for (const [key, member] of members) {
    if (REFUSED_KEYS.has(key)) {
      problems.push({
        path,
        value: '',
        message: `${path} has the key ${key}, which is not allowed: rename it`,
      });
    } else if (key.length > OPEN_KEY) {
      const message = `${path} has a key of more than ${OPEN_KEY} characters: make it shorter`;
      problems.push({ path, value: '', message });
    } else {
      kept.push([key, copyOpen(member, under(path, key.slice(0, 64)), problems, budget, depth + 1)]);
    }
  }
  return Object.fromEntries(kept);
}
