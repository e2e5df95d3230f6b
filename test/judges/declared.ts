import type { Shown } from '../support/world.ts';
import type { Court, StoredRecord } from './judge.ts';

/** All values that a key of a Secret or a ConfigMap has had in this world. */
export type History = (kind: 'secrets' | 'configmaps', key: string, item: string) => ReadonlySet<string>;

interface Variable {
  name: string;
  scope?: string;
  type?: string;
  value?: unknown;
  required?: boolean;
  options?: string[];
  valueFrom?: Reference;
  file?: Reference & { inline?: string };
  boxRef?: { name: string };
  boxId?: string;
}

interface Reference {
  secretKeyRef?: { name: string; key: string };
  configMapKeyRef?: { name: string; key: string };
}

interface StoredVariable {
  name: string;
  scope?: string;
  type: string;
  value?: unknown;
  options?: string;
}

/** One thing that a spec declares: where, and whether a record has it. */
export interface Declared {
  /** The member of spec that it stands in. */
  field: string;
  what: string;
  holds: boolean;
}

/** What a resource declares of its record, read from the interface document and not from the operator's code. */
export function declaredOf(
  plural: string,
  resource: Shown,
  record: StoredRecord,
  court: Court,
  history: History,
): Declared[] {
  const { spec, metadata } = resource;
  const { namespace = '' } = metadata as { namespace?: string };
  const fields = (record['fields'] ?? {}) as Record<string, unknown>;
  const out: Declared[] = [];
  const say = (field: string, what: string, holds: boolean): void => void out.push({ field, what, holds });
  const valuesOf = (reference: Reference | undefined): ReadonlySet<string> | undefined => {
    const { secretKeyRef: secret, configMapKeyRef: map } = reference ?? {};
    const held =
      secret !== undefined
        ? history('secrets', `${namespace}/${secret.name}`, secret.key)
        : map !== undefined
          ? history('configmaps', `${namespace}/${map.name}`, map.key)
          : undefined;
    // On real parts contents are known a little later than the operator has them.
    return held === undefined || held.size === 0 ? undefined : held;
  };
  const idOf = (kind: string, name: string): string | undefined =>
    court.resource(kind, `${namespace}/${name}`)?.status?.id;

  // An instance keeps the name that it was deployed with.
  if (plural !== 'instances')
    say('name', `name ${record.name}`, record.name === (spec['name'] ?? metadata.name));
  const [listed, put] = [spec['variables'], spec['overrides']].map((list) => (list ?? []) as Variable[]);
  for (const variable of [...(listed ?? []), ...(put ?? [])]) {
    const { name, scope = '', type } = variable;
    const title = `variable ${scope === '' ? '' : `${scope}.`}${name}`;
    const stored = (record['variables'] as StoredVariable[]).find(
      (other) => other.name === name && (other.scope ?? '') === scope,
    );
    if (stored === undefined) {
      say('variables', `${title} is missing`, false);
      continue;
    }
    const kept = typeof stored.value === 'string' ? stored.value : JSON.stringify(stored.value ?? '');
    if (type === 'File') {
      const wanted =
        variable.file?.inline === undefined ? valuesOf(variable.file) : new Set([variable.file.inline]);
      const text = court.blob(kept);
      if (wanted !== undefined)
        say('variables', `${title} is ${text}`, text !== undefined && wanted.has(text));
    } else if (type === 'Box') {
      const id =
        variable.boxId ?? (variable.boxRef === undefined ? undefined : idOf('boxes', variable.boxRef.name));
      if (id !== undefined) say('variables', `${title} is ${kept}`, kept === id);
    } else if (variable.valueFrom !== undefined) {
      const wanted = valuesOf(variable.valueFrom);
      if (wanted !== undefined) {
        const known = [...wanted].some((value) => value.trimEnd() === kept.trimEnd());
        say('variables', `${title} is not what its Secret holds`, known);
      }
    } else if (variable.value !== undefined) {
      say('variables', `${title} is ${kept}`, same(kept, variable.value));
    }
  }

  if (plural === 'instances') {
    for (const tag of (spec['tags'] ?? []) as string[])
      say('tags', `tag ${tag} is missing`, (record['tags'] as string[]).includes(tag));
    const { boxRef, boxId } = spec as { boxRef?: { name: string }; boxId?: string };
    const box = boxId ?? (boxRef === undefined ? undefined : idOf('boxes', boxRef.name));
    if (box !== undefined)
      say('boxRef', `box ${String(record['box'])}`, record['box'] === box || saysReplaced(resource));
    const { lease } = spec as { lease?: { operation: string; expireAt?: string } };
    const kept = record['lease'] as { operation: string; expire?: string; released: boolean } | undefined;
    const shown = resource.status?.['lease'] as { by?: string; released?: boolean } | undefined;
    const served = shown?.by !== 'Operator' && shown?.released !== true && kept?.released !== true;
    if (lease !== undefined && lease.operation !== 'AlwaysOn' && served) {
      say('lease', `lease ${kept?.operation}`, kept?.operation === lease.operation.toLowerCase());
      if (lease.expireAt !== undefined)
        say('lease', `end ${kept?.expire}`, sameMinute(kept?.expire, lease.expireAt));
    }
    const { event } = (record['operation'] ?? {}) as { event?: string };
    if (served && shown?.released !== true && spec['powerState'] !== undefined) {
      const off = event?.startsWith('shutdown') === true;
      say('powerState', `the record shows ${event}`, (spec['powerState'] === 'Stopped') === off);
    }
  } else {
    if (spec['description'] !== undefined)
      say(
        'description',
        `description ${String(record['description'])}`,
        record['description'] === spec['description'],
      );
    const { requirements, events } = spec as {
      requirements?: string[];
      events?: Record<string, Reference & { inline?: string }>;
    };
    const has = (fields['requirements'] ?? []) as string[];
    for (const one of requirements ?? [])
      say('requirements', `requirement ${one} is missing`, has.includes(one));
    for (const [name, source] of Object.entries(events ?? {})) {
      const stored = (fields['events'] as Record<string, { url?: string }> | undefined)?.[name];
      const text = stored?.url === undefined ? undefined : court.blob(stored.url);
      const wanted = source.inline === undefined ? valuesOf(source) : new Set([source.inline]);
      if (wanted !== undefined)
        say('events', `event ${name} is ${text?.slice(0, 40)}`, text !== undefined && wanted.has(text));
    }
    const { profile, claims } = spec as { profile?: { properties?: object }; claims?: string[] };
    for (const [name, value] of Object.entries(profile?.properties ?? {})) {
      const kept = (fields['profile'] as Record<string, unknown> | undefined)?.[name];
      const empty =
        value === null || (typeof value === 'object' && Object.keys(value as object).length === 0);
      if (!empty) say('profile', `profile.${name} is ${JSON.stringify(kept)}`, same(kept, value));
    }
    for (const claim of claims ?? [])
      say('claims', `claim ${claim} is missing`, ((fields['claims'] ?? []) as string[]).includes(claim));
  }
  return out;
}

/** Equal as the service may keep it: a number, a switch and a text that says the same are one. */
function same(kept: unknown, declared: unknown): boolean {
  const [has, wanted] = [textOf(kept), textOf(declared)];
  return has === wanted || (wanted !== '' && Number(has) === Number(wanted));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function sameMinute(expire: string | undefined, declared: string): boolean {
  if (expire === undefined) return false;
  const kept = Date.parse(expire.endsWith('Z') ? expire : `${expire.replace(' ', 'T')}Z`);
  return Math.abs(kept - Date.parse(declared)) <= 60_000;
}

/** It says that its box has another record by now, which no operation can bring it to. */
function saysReplaced({ status }: Shown): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'BoxReplaced') === true;
}
