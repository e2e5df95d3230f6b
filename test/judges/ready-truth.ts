import type { Shown } from '../support/world.ts';
import type { Court, Judge, StoredRecord } from './judge.ts';
import { declaredOf, type Declared, type History } from './declared.ts';
import { hasEnded, homeOf, keyOfShown, readyOf, RECORD_KINDS } from './parts.ts';

/** Operations that bring variables to the machines. */
const BRINGS = /^(deploy|reinstall|reconfigure)$/;
/** A power-on configures the machines, too: it brings what a reconfigure would. */
const BRINGS_RECONFIGURED = /^(deploy|reinstall|reconfigure|poweron)$/;

/**
 * Ready is True for a generation only once the record has held what that generation declares. Afterwards others
 * may change the record: that is drift, and another matter.
 */
export function readyTruth(court: Court): Judge {
  const proved = new Set<string>();
  const told = new Set<string>();
  const specs = new Map<string, { generation: number; before: Record<string, unknown> }>();
  const contents = new Map<string, Set<string>>();
  /**
   * The values that an operation has brought to the machines last, and how many operations there were then; `waived`:
   * those that we put on the record under applyChanges None, which no operation has to bring.
   */
  const brought = new Map<string, { operations: number; values: string; waived?: string }>();
  const history: History = (kind, key, item) => contents.get(`${kind} ${key} ${item}`) ?? new Set();

  /** Values that need no operation; undefined where a change of the record is not for the machines. */
  const valuesInPlace = (
    resource: Shown,
    record: StoredRecord,
    isOurs = false,
  ): readonly (string | undefined)[] | undefined => {
    const { applyChanges = 'None' } = resource.spec as { applyChanges?: string };
    const bringing = applyChanges === 'Reconfigure' ? BRINGS_RECONFIGURED : BRINGS;
    const operations = court.operations(record.id).filter(({ operation }) => bringing.test(operation)).length;
    const values = valuesOf(record['variables']);
    let known = brought.get(record.id);
    if (known === undefined || operations > known.operations) known = { operations, values };
    if (isOurs && applyChanges === 'None') known = { ...known, waived: values };
    brought.set(record.id, known);
    return applyChanges === 'None' ? undefined : [known.values, known.waived];
  };
  const learn = (plural: string, resource: Shown): void => {
    if (plural !== 'instances') return;
    const stored = court.record(plural, resource.status?.id ?? '', homeOf(resource));
    if (stored !== undefined) valuesInPlace(resource, stored);
  };
  /** The same without learning from the record, which may be an older one. */
  const knownInPlace = (
    resource: Shown,
    record: StoredRecord,
  ): readonly (string | undefined)[] | undefined => {
    const known = brought.get(record.id);
    const isWaived = (resource.spec['applyChanges'] ?? 'None') === 'None';
    return isWaived || known === undefined ? undefined : [known.values, known.waived];
  };
  const missing = (plural: string, resource: Shown, answered?: StoredRecord): string[] => {
    const { status, spec } = resource;
    const [table, home] = [RECORD_KINDS[plural]?.table ?? 'boxes', homeOf(resource)];
    const record = answered ?? court.record(table, status?.id ?? '', home);
    if (record === undefined) return [`there is no record ${status?.id} at ${home}`];
    // Nothing can be brought to what has come to its end.
    if (hasEnded(record)) return [];
    let declared: Declared[] = declaredOf(plural, resource, record, court, history);
    // What others changed stays as it is there: only what this generation changed has to be in place.
    const { before = {} } = specs.get(resource.metadata.uid) ?? {};
    const counts = (field: string): boolean =>
      (spec['driftPolicy'] ?? 'Correct') === 'Correct' ||
      JSON.stringify(before[field]) !== JSON.stringify(spec[field]);
    declared = declared.filter(({ field }) => counts(field));
    const out = declared.filter(({ holds }) => !holds).map(({ what }) => what);
    const { event = '' } = (record['operation'] ?? {}) as { event?: string };
    if (plural === 'instances' && counts('variables') && !event.startsWith('shutdown')) {
      const inPlace =
        answered === undefined ? valuesInPlace(resource, record) : knownInPlace(resource, record);
      if (inPlace !== undefined && !inPlace.includes(valuesOf(record['variables'])))
        out.push('its variables were changed and no operation has brought them to the machines');
    }
    return out;
  };
  const look = (plural: string, resource: Shown, answered?: StoredRecord): void => {
    const name = nameOf(resource);
    if (!proved.has(name) && missing(plural, resource, answered).length === 0) proved.add(name);
  };
  /** What is in place by the answer to a read. */
  const lookAt = (answered: StoredRecord | undefined): void => {
    if (typeof answered?.id !== 'string') return;
    for (const plural of Object.keys(RECORD_KINDS))
      for (const resource of court.resources(plural))
        if (resource.status?.id === answered.id) {
          learn(plural, resource);
          look(plural, resource, answered);
        }
  };

  return {
    changed({ resource: plural, now, before }) {
      if (plural === 'secrets' || plural === 'configmaps') noteContents(contents, plural, now);
      if (now === undefined || RECORD_KINDS[plural] === undefined) return;
      const { uid, generation } = now.metadata;
      const known = specs.get(uid);
      if (known?.generation !== generation) {
        // A generation that was replaced before anybody spoke of it has changed nothing.
        const isSpokenOf = before?.status?.observedGeneration === before?.metadata.generation;
        specs.set(uid, { generation, before: (isSpokenOf ? before?.spec : known?.before) ?? {} });
        // What is declared may be in place already, and be taken away before anybody looks.
        if (now.status?.id !== undefined) look(plural, now);
      }
      const ready = readyOf(now);
      if (ready?.status !== 'True' || now.status?.observedGeneration !== generation) return;
      if (now.metadata.deletionTimestamp !== undefined || isLeftAlone(now)) return;
      const name = nameOf(now);
      look(plural, now);
      if (proved.has(name) || told.has(name)) return;
      told.add(name);
      court.object(
        `${plural} ${keyOfShown(now)} is Ready (${ready.reason}) for generation ${generation}: ` +
          missing(plural, now).slice(0, 3).join('; '),
      );
    },
    // What is in place by now may be taken away before the operator can say so.
    byHand() {
      for (const plural of Object.keys(RECORD_KINDS)) {
        for (const resource of court.resources(plural)) {
          if (resource.status?.id === undefined) continue;
          learn(plural, resource);
          look(plural, resource);
        }
      }
    },
    calling({ endpoint, record, by = '', method, path }) {
      if (method !== 'PUT' || record?.table !== 'instances') return;
      if (!/^\/services\/instances\/[^/?]+$/.test(path)) return;
      const [plural = '', key = ''] = by.split(' ');
      const resource = court.resource(plural, key);
      const stored = court.record('instances', record.id, endpoint);
      // What the record holds before it is changed.
      if (resource !== undefined && stored !== undefined) valuesInPlace(resource, stored);
    },
    called({ by, method, status, answer }) {
      if (method === 'GET') {
        // Reads may trail: the operator can know no more than it is answered, singly or in a list.
        if (status === 200) for (const one of [answer].flat()) lookAt(one as StoredRecord | undefined);
        return;
      }
      if (by === undefined) return;
      const [plural = '', key = ''] = by.split(' ');
      const resource = court.resource(plural, key);
      if (RECORD_KINDS[plural] === undefined || resource === undefined) return;
      const stored =
        plural === 'instances'
          ? court.record(plural, resource.status?.id ?? '', homeOf(resource))
          : undefined;
      // Where changes are not for the machines, what we have put on the record counts as brought.
      if (stored !== undefined) valuesInPlace(resource, stored, true);
      look(plural, resource);
    },
  };
}

function nameOf({ metadata }: Shown): string {
  return `${metadata.uid} ${metadata.generation}`;
}

function isLeftAlone({ spec, metadata }: Shown): boolean {
  const paused = metadata.annotations?.['boxwright.dev/paused'];
  return (
    spec['managementPolicy'] === 'Observe' ||
    spec['paused'] === true ||
    (paused !== undefined && paused !== '' && paused !== 'false')
  );
}

function noteContents(
  contents: Map<string, Set<string>>,
  kind: 'secrets' | 'configmaps',
  now: Shown | undefined,
): void {
  const { data = {}, binaryData = {} } = (now ?? {}) as unknown as Record<string, Record<string, string>>;
  const plain = (value: string): string =>
    kind === 'secrets' ? Buffer.from(value, 'base64').toString() : value;
  const entries = [
    ...Object.entries(data).map(([item, value]) => [item, plain(value)] as const),
    ...Object.entries(binaryData).map(
      ([item, value]) => [item, Buffer.from(value, 'base64').toString()] as const,
    ),
  ];
  for (const [item, value] of entries) {
    if (now === undefined) continue;
    const name = `${kind} ${keyOfShown(now)} ${item}`;
    contents.set(name, (contents.get(name) ?? new Set()).add(value));
  }
}

function valuesOf(variables: unknown): string {
  const list = Array.isArray(variables)
    ? (variables as { name: string; scope?: string; value?: unknown }[])
    : [];
  return list
    .map(({ name, scope = '', value }) => JSON.stringify([scope, name, value ?? null]))
    .toSorted()
    .join();
}
