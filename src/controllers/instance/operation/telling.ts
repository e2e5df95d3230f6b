import { cutText } from '../../../base/text.ts';
import type { ActivityRecord, InstanceRecord } from '../../../service/index.ts';
import type { DesiredInstance } from '../desired.ts';
import type { InstancePass } from '../pass.ts';

/** Longest text that goes from an activity log into a condition, characters. */
const TEXT_LIMIT = 1_024;
/** Shorter values would mask half of every text. */
const SHORTEST_MASKED = 4;

/**
 * The telling lines of an activity log: the script that failed with its exit code, and what was said last.
 * Every known secret value in it is masked.
 */
export function tellingLines(activity: readonly ActivityRecord[], secrets: readonly string[]): string {
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
  return cutText(mask(parts.join(': '), secrets).replaceAll(/\p{Cc}+/gu, ' '), TEXT_LIMIT);
}

/** Replaces every known secret value. */
function mask(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    for (const part of [secret, ...secret.split(/\r?\n/)]) {
      if (part.length >= SHORTEST_MASKED) masked = masked.replaceAll(part, '****');
    }
  }
  return masked;
}

/** Reads the telling lines of an operation; undefined when its log cannot be read or says nothing. */
export async function readTelling(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance | undefined,
  operation: string,
): Promise<string | undefined> {
  const { handle, priority, signal } = pass;
  const read = await handle.client.instances.activity(record.id, operation, { priority, signal });
  if (read.kind !== 'found') return undefined;
  const told = tellingLines(read.record, [...(desired?.secrets ?? []), ...handle.client.secretValues()]);
  return told === '' ? undefined : told;
}
