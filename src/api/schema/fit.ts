import type { TSchema } from 'typebox';
import { canonicalJson } from '../../base/hash.ts';
import { characters, cutText, firstCharacters, isWithin } from '../../base/text.ts';
import { tokenOf } from '../tokens.ts';
import { isFields, under } from './prune.ts';

/**
 * Fits a value to the schema that the API server will judge it by. What is marked as `shown` or as a `token`
 * (see build.ts) is made to fit; what decides is kept as it is or not at all, and then said to be a misfit.
 */

/** Something that decides and does not fit: it must not be written, and nothing sent that it was to precede. */
export interface Misfit {
  /** Such as `managed.variables`. */
  path: string;
  /** Why, such as `has 412 entries, and 400 fit`. */
  why: string;
}

/** A fitted value; undefined where nothing is left of it. */
export interface Fitted {
  value: unknown;
  misfits: Misfit[];
}

type Node = Readonly<{
  type?: string;
  enum?: readonly unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: TSchema;
  properties?: Readonly<Record<string, TSchema>>;
  shown?: true;
  token?: true;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
}>;

/** Makes what is secret in a shown text unreadable; `isCut`: its end was cut off. */
export type Mask = (text: string, isCut: boolean) => string;

interface Place {
  path: string;
  mask: Mask;
  /** This node, or one above it, only shows. */
  shown: boolean;
  misfits: Misfit[];
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Fits a value. Never throws; unknown members go, as they would on the API server.
 *
 * @param mask - for text that only shows. What decides is compared with the service later, and stays as it is.
 */
export function fit(schema: TSchema, value: unknown, mask: Mask = (text) => text): Fitted {
  const misfits: Misfit[] = [];
  const fitted = fitNode(schema, value, { path: '', mask, shown: false, misfits });
  return { value: fitted, misfits };
}

function fitNode(schema: TSchema, value: unknown, above: Place): unknown {
  if (value === undefined || value === null) return undefined;
  const node = schema as Node;
  const place = { ...above, shown: above.shown || node.shown === true };
  switch (node.type) {
    case 'string':
      return fitText(node, value, place);
    case 'integer':
      return fitInteger(node, value, place);
    case 'boolean':
      return typeof value === 'boolean' ? value : unfit(place, 'is neither true nor false');
    case 'array':
      return Array.isArray(value) ? fitList(node, value, place) : unfit(place, 'is not a list');
    case 'object':
      return isFields(value) ? fitFields(node, value, place) : unfit(place, 'is not an object');
    default:
      return value;
  }
}

/** What only shows is left out in silence. */
function unfit({ path, shown, misfits }: Place, why: string): undefined {
  if (!shown) misfits.push({ path, why });
  return undefined;
}

function fitText(node: Node, value: unknown, place: Place): string | undefined {
  const { minLength = 0, maxLength = Infinity } = node;
  const isPlain = ['number', 'bigint', 'boolean'].includes(typeof value);
  if (typeof value !== 'string' && !(isPlain && place.shown)) return unfit(place, 'is not text');
  let text = String(value);
  if (text === '' && minLength > 0) return undefined;
  if (node.token === true) text = tokenOf(text, maxLength) ?? '';
  else if (place.shown) text = shownText(node, text, place.mask);
  if (!text.isWellFormed()) return unfit(place, 'holds half a character');
  if (!isWithin(text, maxLength)) {
    return unfit(place, `has ${characters(text)} characters, and ${maxLength} fit`);
  }
  if (minLength > 0 && characters(text) < minLength)
    return unfit(place, `has fewer than ${minLength} characters`);
  if (node.enum !== undefined && !node.enum.includes(text)) return unfit(place, 'is not a word known here');
  if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(text)) {
    return unfit(place, `does not match ${node.pattern}`);
  }
  if (node.format === 'date-time' && !(DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)))) {
    return unfit(place, 'is not a time');
  }
  return text;
}

/** A text that only shows, as long as fits. What has a form or is one of several words is no text of somebody else's. */
function shownText(
  { maxLength = Infinity, pattern, format, enum: words }: Node,
  text: string,
  mask: Mask,
): string {
  const whole = text.toWellFormed();
  const cut = cutText(whole, maxLength);
  if (pattern !== undefined || format !== undefined || words !== undefined) return cut;
  // What stands for a secret may be longer than what was left of it.
  return cutText(mask(cut, cut !== whole).toWellFormed(), maxLength);
}

/** A number outside its bounds counts something: the nearest one says as much. */
function fitInteger(node: Node, value: unknown, place: Place): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return unfit(place, 'is not a number');
  return Math.min(Math.max(Math.trunc(value), node.minimum ?? -Infinity), node.maximum ?? Infinity);
}

function fitFields(
  node: Node,
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Record<string, unknown> | undefined {
  const fitted: [string, unknown][] = [];
  let isComplete = true;
  for (const [name, schema] of Object.entries(node.properties ?? {})) {
    const isDemanded = !('~optional' in schema) && !('default' in schema);
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    // Most are: a status holds few of all that it could.
    if (given === undefined && !isDemanded) continue;
    const at = { ...place, path: under(place.path, name) };
    const before = place.misfits.length;
    const member = fitNode(schema, given, at);
    if (member !== undefined) fitted.push([name, member]);
    else if (isDemanded) {
      isComplete = false;
      if (place.misfits.length === before) unfit(at, 'is missing');
    }
  }
  // Half of what shows would be refused; nothing of it would be an empty object.
  const saysNothing = fitted.length === 0 && Object.keys(value).length > 0;
  if (place.shown && (!isComplete || saysNothing)) return undefined;
  return Object.fromEntries(fitted);
}

function fitList(node: Node, value: readonly unknown[], place: Place): unknown[] | undefined {
  const { items, maxItems = Infinity } = node;
  if (items === undefined) return [...value];
  const before = place.misfits.length;
  // Each text that shows is searched for secrets: of a service's thousands those are that may come to show.
  const looked = place.shown ? value.slice(0, maxItems * LOOKED) : value;
  const fitted = looked
    .map((item, index) => fitNode(items, item, { ...place, path: `${place.path}[${index}]` }))
    .filter((item) => item !== undefined);
  // One misfit says enough of a list of hundreds.
  place.misfits.splice(before + 1);
  const distinct = distinctItems(node, fitted, place);
  if (distinct.length <= maxItems) return distinct;
  if (!place.shown) return unfit(place, `has ${distinct.length} entries, and ${maxItems} fit`);
  return bounded(node, distinct, maxItems, value.length - looked.length);
}

/** Of a list that only shows, so many times as many items are looked at as it may have: some may stand twice. */
const LOOKED = 4;

/** What stands twice stands once; of those that share a key only, the later get another one. */
function distinctItems(node: Node, items: readonly unknown[], place: Place): unknown[] {
  const keys = node['x-kubernetes-list-map-keys'];
  if (keys === undefined) {
    return node['x-kubernetes-list-type'] === 'set' ? [...new Set(items)] : [...items];
  }
  const fields = items.filter(isFields);
  if (new Set(fields.map((item) => keyOf(item, keys))).size === fields.length) return fields;
  const groups = new Map<string, Map<string, Fields>>();
  for (const item of fields) {
    const key = keyOf(item, keys);
    const group = groups.get(key) ?? new Map<string, Fields>();
    groups.set(key, group.set(canonicalJson(item), item));
  }
  const taken = new Set(groups.keys());
  return [...groups.values()].flatMap((group) => {
    // In an order of their own: the service may list them in another one each time.
    const [first, ...others] = [...group].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
    if (first === undefined || others.length === 0) return [...group.values()];
    if (!place.shown) {
      unfit(place, `has two entries for ${keys.map((key) => String(first[key])).join(', ')}`);
      return [first];
    }
    return [first, ...renamed(node, others, keys, taken)];
  });
}

type Fields = Record<string, unknown>;

function keyOf(item: Readonly<Fields>, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => item[key]));
}

/** Items that share a key, under names of their own: `web~2`, `web~3`. */
function renamed(
  node: Node,
  items: readonly Fields[],
  keys: readonly string[],
  taken: Set<string>,
): Fields[] {
  const last = keys.at(-1) ?? '';
  const shape: Node = node.items ?? {};
  const field: Node = shape.properties?.[last] ?? {};
  // What has a pattern is a word of ours, which nobody doubles.
  if (field.type !== 'string' || field.pattern !== undefined || field.enum !== undefined) return [];
  const named: Fields[] = [];
  let n = 1;
  for (const item of items) {
    let other: Fields;
    do {
      n += 1;
      const suffix = `~${n}`;
      const short = firstCharacters(String(item[last]), (field.maxLength ?? Infinity) - suffix.length);
      other = { ...item, [last]: `${short}${suffix}` };
    } while (taken.has(keyOf(other, keys)));
    taken.add(keyOf(other, keys));
    named.push(other);
  }
  return named;
}

/** The first items; where an item can be a mere word, the last one says how many are left out, with those not looked at. */
function bounded(node: Node, items: readonly unknown[], maxItems: number, unseen: number): unknown[] {
  const word = `… and ${items.length + unseen - maxItems + 1} more`;
  const item = node.items as Node;
  const [key, ...others] = node['x-kubernetes-list-map-keys'] ?? [];
  const demanded = Object.entries(item.properties ?? {})
    .filter(([, schema]) => !('~optional' in schema) && !('default' in schema))
    .map(([name]) => name);
  if (item.type === 'string' && item.pattern === undefined) return [...items.slice(0, maxItems - 1), word];
  if (key === undefined || others.length > 0 || demanded.some((name) => name !== key)) {
    return items.slice(0, maxItems);
  }
  return [...items.slice(0, maxItems - 1), { [key]: word }];
}
