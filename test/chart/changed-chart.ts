import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART } from './chart.ts';

/** A copy of the chart in which the Box has another description. */
export interface ChangedChart extends Disposable {
  readonly path: string;
  /** What the description of the kind's `spec` says in it. */
  readonly description: string;
}

export function chartWithChangedCrd(): ChangedChart {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-changed-'));
  const path = join(folder, 'boxwright');
  cpSync(CHART, path, { recursive: true });
  const description = 'What a box of a later version is.';
  const file = join(path, 'templates/boxes.crd.yaml');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/^( {10}type: object\n {10}description: ).*$/m, `$1${description}`);
  if (changed === text) throw new Error(`${file} has no description of the kind to change`);
  writeFileSync(file, changed);
  return { path, description, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
