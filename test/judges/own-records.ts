import type { Shown } from '../support/world.ts';
import type { Court, Judge, RecordTable, ServiceCall } from './judge.ts';
import { holds, isMarked, keyOfShown, mayRemoveFormer, RECORD_KINDS } from './parts.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';

/**
 * Nothing is written to a record that is not proved to be the resource's: at the moment of the write the resource
 * it is made for holds it, and came by it in a way that gives a right: the record was made with its marker, or
 * carries it, or a person named it for adoption, or a status that no author can write said so. And it is sent to the
 * service that has the record, for another one's answer proves nothing.
 */
export function ownRecords(court: Court): Judge {
  /** `instances shop/web-eu` by id: who has a right to it. */
  const rights = new Map<string, Set<string>>();
  const grant = (id: string, name: string): void => {
    const names = rights.get(id) ?? new Set();
    rights.set(id, names.add(name));
  };
  const marked = (
    call: ServiceCall,
    id: string,
    table: RecordTable,
    plural: string,
    key: string,
  ): boolean => {
    const record = court.record(table, id, call.endpoint);
    return record !== undefined && isMarked(court, record, plural, key);
  };
  const operatorWrote = new Set<string>();
  /** Resources that have gone. */
  const gone = new Set<string>();
  return {
    wrote({ after }) {
      if (after !== undefined) operatorWrote.add(after.metadata.resourceVersion);
    },
    changed({ resource, key, now }) {
      if (now === undefined) gone.add(`${resource} ${key}`);
      if (now === undefined || RECORD_KINDS[resource] === undefined) return;
      const adopt = now.metadata.annotations?.[ANNOTATIONS.adopt];
      if (adopt !== undefined && adopt !== '') grant(adopt, `${resource} ${key}`);
    },
    called(call) {
      // A create that went through: the record is the resource's that it was made for.
      const { id } = (call.answer ?? {}) as { id?: string };
      if (call.method === 'POST' && /^\/services\/(boxes|instances)$/.test(call.path) && id !== undefined)
        if (call.by !== undefined) grant(id, call.by);
    },
    calling(call) {
      if (call.record === undefined || call.method === 'GET') return;
      const { id, table } = call.record;
      const what = `${call.method} ${call.path} for ${call.by}`;
      const [plural = '', key = ''] = (call.by ?? '').split(' ');
      const resource = court.resource(plural, key);
      // Let go of after a delete, there again, and nobody's: the one who made it takes it away.
      const isHeld = court.resources(plural).some((other) => holds(other, id));
      const isLetGo = call.method === 'DELETE' && !isHeld && gone.has(call.by ?? '');
      if (isLetGo && rights.get(id)?.has(call.by ?? '') === true) return;
      if (RECORD_KINDS[plural]?.table !== table || resource === undefined) {
        court.object(`${what}: nobody's, or nobody who has such records`);
        return;
      }
      const isThere = court.record(table, id, call.endpoint) !== undefined;
      if (!isThere && court.record(table, id) !== undefined)
        court.object(`${what}: it goes to ${call.endpoint}, and another service has that record`);
      const isFormer = call.method === 'DELETE' && mayRemoveFormer(resource, id);
      if (!holds(resource, id) && !isFormer) court.object(`${what}: it holds no such record at that moment`);
      if (marked(call, id, table, plural, key)) grant(id, `${plural} ${key}`);
      const seeded =
        resource.status?.id === id &&
        !rights.has(id) &&
        !operatorWrote.has(resource.metadata.resourceVersion);
      if (seeded) grant(id, `${plural} ${key}`);
      if (rights.get(id)?.has(`${plural} ${key}`) !== true && isThere)
        court.object(`${what}: nothing gives it a right to that record`);
      const others = court
        .resources(plural)
        .filter((other) => other !== resource && other.status?.id === id && keyOfShown(other) !== key)
        .filter((other) => rights.get(id)?.has(`${plural} ${keyOfShown(other)}`) === true);
      const [older] = others.filter((other) => !seeded && claimedBefore(other, resource));
      if (older !== undefined && !marked(call, id, table, plural, key))
        court.object(`${what}: ${keyOfShown(older)} holds that record and is older`);
    },
  };
}

function claimedBefore(one: Shown, other: Shown): boolean {
  const [a, b] = [bornAt(one), bornAt(other)];
  return a < b || (a === b && one.metadata.uid < other.metadata.uid);
}

function bornAt({ metadata }: Shown): string {
  return (metadata as { creationTimestamp?: string }).creationTimestamp ?? '';
}
