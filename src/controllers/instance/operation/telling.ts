import type { SecretSet } from '../../../base/masking/secret-set.ts';
import { cutText } from '../../../base/text.ts';
import type { ActivityRecord, InstanceRecord } from '../../../service/index.ts';
import type { InstancePass } from '../pass.ts';

/** Longest text that goes from an activity log into a condition, characters. */
const TEXT_LIMIT = 1_024;

/**
 * The telling lines of an activity log: the script that failed with its exit code, and what was said last.
 * No secret value is in it.
 */
export function tellingLines(activity: readonly ActivityRecord[], secrets: Pick<SecretSet, 'mask'>): string {
  const failed = activity.findLast((line) => typeof line.exit_code === 'number' && line.exit_code !== 0);
  const parts: string[] = [];
  if (failed !== undefined) {
    const where = [failed.event, failed.machine === undefined ? undefined : `on ${failed.machine}`]
      .filter((part) => part !== undefined && part !== '')
      .join(' ');
    parts.push(`${where === '' ? 'a script' : where} ended with exit code ${String(failed.exit_code)}`);
  }
  const said = activity
    .map((line) => line.text?.trim() ?? '')
    .filter((text) => text !== '')
    .slice(-3);
  if (said.length > 0) parts.push(said.join(' | '));
  const whole = parts.join(': ');
  const cut = cutText(whole, TEXT_LIMIT);
  return secrets.mask(cut, cut !== whole).replaceAll(/\p{Cc}+/gu, ' ');
}

/** Reads the telling lines of an operation; undefined when its log cannot be read or says nothing. */
export async function readTelling(
  pass: InstancePass,
  record: InstanceRecord,
  operation: string,
): Promise<string | undefined> {
  const { handle, priority, signal } = pass;
  const read = await handle.client.instances.activity(record.id, operation, { priority, signal });
  if (read.kind !== 'found') return undefined;
  const told = tellingLines(read.record, handle.secrets);
  return told === '' ? undefined : told;
}
