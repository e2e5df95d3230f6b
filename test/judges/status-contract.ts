import { REASONS } from '../../src/api/reasons.ts';
import type { Court, Judge } from './judge.ts';
import { versionOf } from './legal-paths.ts';

const STATUS_BYTES = 20_000;

/**
 * What every status write keeps to: it names the version it was made from; an observed generation that neither
 * runs ahead nor goes back; Reconciling and Stalled only while True and never both; reasons of the closed list,
 * with a message that says something; a size that stays small.
 */
export function statusContract(court: Court): Judge {
  return {
    writing({ resource, key, part, request }) {
      if (part === 'status' && versionOf(request.body) === undefined)
        court.object(`${resource} ${key}: its status is patched without a resourceVersion`);
    },
    changed({ resource, key, now, before }) {
      if (
        now?.status === undefined ||
        !/^(boxes|policyboxes|instances|instanceleases|connections)$/.test(resource)
      )
        return;
      const claim = (holds: boolean, what: string): void => {
        if (!holds) court.object(`${resource} ${key}: ${what}`);
      };
      const { observedGeneration: seen = -1, conditions = [] } = now.status;
      claim(seen <= now.metadata.generation, 'observedGeneration runs ahead');
      if (before?.metadata.uid === now.metadata.uid && before.metadata.generation <= now.metadata.generation)
        claim(seen >= (before.status?.observedGeneration ?? -1), 'observedGeneration went back');
      if (JSON.stringify(before?.status) === JSON.stringify(now.status)) return;
      const size = JSON.stringify(now.status).length;
      claim(size < STATUS_BYTES, `status has ${size} bytes`);
      const on = (type: string): boolean =>
        conditions.some((one) => one.type === type && one.status === 'True');
      claim(!(on('Reconciling') && on('Stalled')), 'Reconciling and Stalled both stand');
      for (const { type, status, reason, message } of conditions) {
        claim(
          status === 'True' || !['Reconciling', 'Stalled'].includes(type),
          `${type} stands although it is ${status}`,
        );
        if (type === 'Ready') {
          claim(reason in REASONS, `reason ${reason} is not in the list`);
          claim(message.length > 0, `Ready ${status} ${reason} says nothing`);
        }
      }
    },
  };
}
