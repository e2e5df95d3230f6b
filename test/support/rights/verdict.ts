import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { AuditEvent } from '../../../src/devcluster/index.ts';
import { Comparison, unusedOf, type Tally } from './comparison.ts';
import { readRightsFolder } from './folder.ts';

/** Operators asked for what they may not, or were granted what they never asked for. */
export class RightsDifferError extends Error {
  readonly code = 'RightsDiffer';
  constructor(lines: readonly string[]) {
    super(`the rights that the chart grants are not those that the operator uses:\n${lines.join('\n')}`);
    this.name = 'RightsDifferError';
  }
}

/**
 * Compares the audit logs of a run with the rights of the operators in it, and prints the outcome.
 *
 * @param whole - whether every test ran that has to use all rights together
 * @throws RightsDifferError
 */
export async function judgeRights(options: {
  folder: string;
  auditLogPath: string;
  whole: boolean;
  print: (text: string) => void;
}): Promise<void> {
  const { identities, logs } = readRightsFolder(options.folder);
  if (identities.length === 0) return;
  const comparison = new Comparison(identities);
  const users = new Set(identities.map(({ user }) => user));
  for (const log of [options.auditLogPath, ...logs]) {
    for await (const event of eventsOf(log, users)) comparison.add(event);
  }
  const tallies = comparison.result();
  options.print(tableOf(tallies));
  const faults = [...tallies].flatMap(([mode, tally]) => [
    ...tally.denied.map((text) => `  denied, ${mode}: ${text}`),
    ...(options.whole ? unusedOf(tally).map((text) => `  granted and not used, ${mode}: ${text}`) : []),
  ]);
  if (faults.length > 0) throw new RightsDifferError(faults);
}

/** The lines that can matter; most are somebody else's and need not be parsed. */
async function* eventsOf(path: string, users: ReadonlySet<string>): AsyncGenerator<AuditEvent> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const [, user = ''] = /"user":\{"username":"([^"]*)"/.exec(line) ?? [];
    if (users.has(user) || line.includes('/apis/rbac.authorization.k8s.io/')) {
      yield JSON.parse(line) as AuditEvent;
    }
  }
}

function tableOf(tallies: ReadonlyMap<string, Tally>): string {
  const cells = [...tallies].map(([mode, tally]) => [
    mode,
    tally.identities,
    tally.requests,
    tally.granted.length,
    tally.used.length,
    tally.denied.length,
    unusedOf(tally).length,
  ]);
  const rows = [['rights', 'operators', 'requests', 'granted', 'used', 'denied', 'unused'], ...cells];
  return rows
    .map((row) =>
      row.map((cell, at) => (at === 0 ? String(cell).padEnd(14) : String(cell).padStart(10))).join(''),
    )
    .join('\n');
}
