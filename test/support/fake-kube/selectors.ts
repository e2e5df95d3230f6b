import { badRequest } from './refusals.ts';
import { isRecord, type StoredObject } from './objects.ts';

export type Selector = (object: StoredObject) => boolean;

/** Label selectors by the Kubernetes documents: equality and set based, joined by commas. */
export function labelSelector(text: string | undefined): Selector {
  if (text === undefined || text === '') return () => true;
  const terms = splitTerms(text).map(labelTerm);
  return ({ metadata }) => terms.every((term) => term(metadata.labels ?? {}));
}

/** Field selectors: `=`, `==` and `!=` on the paths that the kind allows, name and namespace always. */
export function fieldSelector(text: string | undefined, allowed: readonly string[]): Selector {
  if (text === undefined || text === '') return () => true;
  const terms = text.split(',').map((term) => {
    const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term.trim());
    const path = match?.[1] ?? '';
    if (match === null || !['metadata.name', 'metadata.namespace', ...allowed].includes(path)) {
      throw badRequest(`field label not supported: ${path === '' ? term : path}`);
    }
    const wanted = match[3] ?? '';
    const equal = match[2] !== '!=';
    return (object: StoredObject): boolean => (textAt(object, path) === wanted) === equal;
  });
  return (object) => terms.every((term) => term(object));
}

function textAt(object: unknown, path: string): string {
  let value: unknown = object;
  for (const part of path.split('.')) value = isRecord(value) ? value[part] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

/** Splits at commas outside of parentheses. */
function splitTerms(text: string): string[] {
  return (text.match(/(?:[^,(]|\([^)]*\))+/g) ?? []).map((term) => term.trim()).filter((term) => term !== '');
}

function labelTerm(term: string): (labels: Record<string, string>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const key = set[1] ?? '';
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    const within = set[2] === 'in';
    return (labels) => {
      const value = labels[key];
      return value === undefined ? !within : values.includes(value) === within;
    };
  }
  const equal = /^([^=!\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
  if (equal !== null) {
    const [, key = '', operator, value = ''] = equal;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const exists = /^(!?)\s*([A-Za-z0-9._/-]+)$/.exec(term);
  if (exists === null) throw badRequest(`unable to parse requirement: ${term}`);
  const key = exists[2] ?? '';
  const wanted = exists[1] === '';
  return (labels) => (labels[key] !== undefined) === wanted;
}
