import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isWrite, readAuditLog } from './audit-log.ts';

function line(stage: string, verb: string): string {
  return `${JSON.stringify({ stage, verb })}\n`;
}

it('reads complete lines, each request once, and tells writes from reads', () => {
  const dir = mkdtempSync(join(tmpdir(), 'boxwright-audit-'));
  const text =
    line('ResponseComplete', 'patch') + line('ResponseStarted', 'watch') + line('ResponseComplete', 'watch');
  writeFileSync(join(dir, 'audit.log'), `${text}{"stage":"Respon`);
  const events = readAuditLog(join(dir, 'audit.log'));
  expect(events.map((event) => [event.verb, isWrite(event)])).toEqual([
    ['patch', true],
    ['watch', false],
  ]);
  rmSync(dir, { recursive: true });
});
