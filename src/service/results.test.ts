import { expect, it } from 'vitest';
import type { BoxRecord } from './models/box.ts';
import type { Read, Write } from './results.ts';

/** These functions are never called: that they compile, and that their marked lines do not, is the test. */
export function readMustBeNarrowed(read: Read<BoxRecord>): string {
  // @ts-expect-error a read that may be missing or unknown has no record
  const record: BoxRecord = read.record;
  if (read.kind === 'missing') {
    // @ts-expect-error one 404 brings no record
    return read.record.id;
  }
  if (read.kind === 'unknown') {
    // @ts-expect-error nothing was found out
    return read.record.id;
  }
  return record.id + read.record.id;
}

export function writeMustBeNarrowed(write: Write<BoxRecord>): string {
  // @ts-expect-error only an accepted write may have brought a record
  const record: BoxRecord | undefined = write.record;
  if (write.kind === 'ok') {
    // @ts-expect-error an accepted write may have no body
    return write.record.id;
  }
  if (write.kind === 'notSent') {
    // @ts-expect-error what was not sent has no end to compare reads with
    return String(write.endedAt);
  }
  return (record?.id ?? '') + write.error.code;
}

it('makes every outcome of a read be handled', () => {
  const all: Record<Read<BoxRecord>['kind'], true> = { found: true, missing: true, unknown: true };
  expect(Object.keys(all)).toHaveLength(3);
});
