import type { Shown } from '../support/world.ts';
import type { Court, Judge, StoredRecord } from './judge.ts';
import { ProvedAbsence } from './proved-absence.ts';
import { formerOf, hasEnded, homeOf, isMarked, keyOfShown, RECORD_KINDS, standingOf } from './parts.ts';

/**
 * What is there is not taken for gone before a lag window of answers says so: while a record lives, its resource keeps
 * the finalizer and the id (unless it is to be left there), and no second one is made for it.
 */
export function absence(court: Court): Judge {
  /** Records that a create of ours made, by the resource and its uid. */
  const made = new Map<string, Set<string>>();
  const proved = new ProvedAbsence(court);
  const living = (plural: string, id: string, at: string | undefined): StoredRecord | undefined => {
    const record = court.record(RECORD_KINDS[plural]?.table ?? 'boxes', id, at);
    return record === undefined || hasEnded(record) || proved.isProved(id) ? undefined : record;
  };
  const uidOf = (name: string): string => {
    const [plural = '', key = ''] = name.split(' ');
    return `${name} ${court.resource(plural, key)?.metadata.uid}`;
  };
  return {
    called(call) {
      proved.called(call);
      const { method, path, by, answer } = call;
      const { id } = (answer ?? {}) as { id?: string };
      if (method !== 'POST' || id === undefined || by === undefined) return;
      if (!/^\/services\/(boxes|instances)$/.test(path)) return;
      const name = uidOf(by);
      made.set(name, (made.get(name) ?? new Set()).add(id));
    },
    calling(call) {
      if (
        call.method !== 'POST' ||
        !/^\/services\/(boxes|instances)$/.test(call.path) ||
        call.by === undefined
      )
        return;
      const [plural = '', key = ''] = call.by.split(' ');
      const { table } = RECORD_KINDS[plural] ?? {};
      if (table === undefined) return;
      const resource = court.resource(plural, key);
      const { skip = [] } = intentOf(resource) ?? {};
      // What was given up for another is on its way out.
      const givenUp = formerOf(resource).flatMap(({ id, why }) => (why === 'Surplus' ? [id] : []));
      const owner = (call.body as { owner?: string } | undefined)?.owner;
      const others = [
        ...[...(made.get(uidOf(call.by)) ?? [])].filter((id) => living(plural, id, undefined) !== undefined),
        ...court
          .records(table, call.endpoint)
          .filter((record) => !hasEnded(record) && !skip.includes(record.id) && record['owner'] === owner)
          .filter((record) => !proved.isProved(record.id) && isMarked(court, record, plural, key))
          .map(({ id }) => id),
      ];
      const [other] = others.filter((id) => !givenUp.includes(id));
      if (other !== undefined) court.object(`${call.by}: a second record is made while ${other} lives`);
    },
    wrote({ resource, key, part, before, after }) {
      if (RECORD_KINDS[resource] === undefined || before === undefined || after === undefined) return;
      const [from, to] = [standingOf(before), standingOf(after)];
      const [table, home] = [RECORD_KINDS[resource].table, homeOf(before)];
      // H12: those that it had earlier go with it.
      if (part === 'object' && from.finalizer && !to.finalizer && from.deleting && !staysBehind(before)) {
        for (const former of formerOf(before)) {
          const left = court.record(table, former.id, former.endpoint);
          if (left === undefined || proved.isProved(former.id) || !isMarked(court, left, resource, key))
            continue;
          if (hasEnded(left) && policyOf(before) === 'Terminate') continue;
          court.object(
            `${resource} ${key}: its finalizer goes while ${former.id}, an earlier record, is there`,
          );
        }
      }
      const id = from.statusId ?? from.claimed;
      if (id === undefined) return;
      const there = court.record(table, id, home);
      // With the policy Terminate a record that has ended stays, and nothing else may.
      const left = there !== undefined && hasEnded(there) && policyOf(before) === 'Terminate';
      if (
        there !== undefined &&
        !left &&
        !proved.isProved(id) &&
        part === 'object' &&
        from.finalizer &&
        !to.finalizer &&
        !staysBehind(before) &&
        !isAnothers(court, resource, before, id)
      )
        court.object(`${resource} ${key}: its finalizer goes while ${id} is there (${stateOf(there)})`);
      const record = living(resource, id, home);
      if (record === undefined) return;
      if (from.statusId !== undefined && to.statusId === undefined)
        court.object(`${resource} ${key}: status lets go of ${id}, which lives (${stateOf(record)})`);
      if (
        part === 'object' &&
        from.statusId === undefined &&
        from.claimed !== undefined &&
        to.claimed === undefined
      )
        court.object(`${resource} ${key}: its claim on ${id} goes, which lives (${stateOf(record)})`);
    },
  };
}

function intentOf(resource: Shown | undefined): { skip?: string[] } | undefined {
  const { intent } = standingOf(resource);
  try {
    return intent === undefined ? undefined : (JSON.parse(intent) as { skip?: string[] });
  } catch {
    return undefined;
  }
}

/** Whether the record is to stay where the resource goes. */
function staysBehind(resource: Shown): boolean {
  return policyOf(resource) === 'Orphan' || resource.spec['managementPolicy'] === 'Observe';
}

function policyOf({ spec, status }: Shown): unknown {
  return spec['deletionPolicy'] ?? (status?.['policies'] as { deletion?: string } | undefined)?.deletion;
}

/** Whether another resource that is not being deleted holds the same record. */
function isAnothers(court: Court, plural: string, resource: Shown, id: string): boolean {
  return court
    .resources(plural)
    .some(
      (other) =>
        other.metadata.uid !== resource.metadata.uid &&
        other.metadata.deletionTimestamp === undefined &&
        keyOfShown(other) !== keyOfShown(resource) &&
        (other.status?.id === id || standingOf(other).claimed === id),
    );
}

function stateOf(record: StoredRecord): string {
  const { event } = (record['operation'] ?? {}) as { event?: string };
  return event === undefined ? record.name : `${String(record['state'])}+${event}`;
}
