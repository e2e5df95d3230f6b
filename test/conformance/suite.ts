import { INVENTORY } from './inventory.ts';
import type { Row } from './row.ts';
import { NotHere, type World } from './world.ts';

export interface Result {
  row: Row;
  /** `skipped`: the run lacks something, or is read-only. */
  outcome: 'passed' | 'failed' | 'skipped' | 'untestable';
  reason: string;
}

/** Runs the inventory, one row after the other, and takes away again what it made. */
export async function runSuite(
  world: World,
  options: { readOnly?: boolean; report?: (result: Result) => void } = {},
): Promise<Result[]> {
  const results: Result[] = [];
  for (const entry of INVENTORY) {
    const result = await runRow(entry, world, options.readOnly === true);
    results.push(result);
    options.report?.(result);
  }
  await world.cleanUp();
  return results;
}

async function runRow(row: Row, world: World, readOnly: boolean): Promise<Result> {
  if (row.check === undefined) return { row, outcome: 'untestable', reason: row.untestable ?? '' };
  if (readOnly && row.reads !== true) return { row, outcome: 'skipped', reason: 'it writes' };
  try {
    await row.check(world);
    return { row, outcome: 'passed', reason: '' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { row, outcome: error instanceof NotHere ? 'skipped' : 'failed', reason };
  }
}

export function summary(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const statements = new Set(results.flatMap((result) => result.row.covers)).size;
  return (
    `${results.length} rows for ${statements} statements: ${count('passed')} passed, ${count('failed')} failed, ` +
    `${count('skipped')} skipped, ${count('untestable')} untestable`
  );
}
