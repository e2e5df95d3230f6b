/**
 * Prints how large things are and how quickly the program starts: definitions, charts, release Secret, bundle,
 * image files; `version`, `--help`, the operator until it is ready against a real control plane, its memory.
 * Times are medians of 5 and mean something on an idle machine only.
 *
 * `--start` is about the start alone. A start is also told as so many times that of Node with an empty script, in the same
 * run; in CPU time that holds on a busy machine too.
 *
 * Usage: node scripts/sizes.ts [--output table|json] [--sources] [--start]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { startControlPlane, streamProgress } from '../src/devcluster/index.ts';
import { bundle } from './bundle.ts';
import { table } from './markdown.ts';
import { operatorTimes, wordTimes } from './sizes/start-up.ts';
import { bundleSizes, chartSizes, definitionSizes, type Row } from './sizes/static.ts';

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: 'table' },
    // Starts the sources instead of the bundle, to compare.
    sources: { type: 'boolean', default: false },
    start: { type: 'boolean', default: false },
  },
});
const scratch = mkdtempSync(join(tmpdir(), 'boxwright-sizes-'));
const cluster = await startControlPlane({
  env: process.env,
  clock: systemClock,
  progress: streamProgress(process.stderr, systemClock),
});
try {
  const { helm, kubectl } = cluster.programs;
  const folder = join(scratch, 'bundle');
  const program = await bundle(folder);
  const main = values.sources ? join(import.meta.dirname, '../src/cli/main.ts') : program;
  const started = { main, kubeconfig: cluster.kubeconfigPath };
  const empty = join(scratch, 'empty.mjs');
  writeFileSync(empty, '');
  // Installs the definitions, which the operator below needs.
  const charts = chartSizes({ helm, kubectl, kubeconfig: cluster.kubeconfigPath, scratch });
  const words = wordTimes(started, empty);
  const rows: Row[] = [
    ...(values.start ? [] : [...definitionSizes(), ...charts, ...bundleSizes(folder)]),
    ...words.rows,
    ...(await operatorTimes(started, words.alone)),
  ];
  process.stdout.write(
    values.output === 'json'
      ? `${JSON.stringify(rows)}\n`
      : `${table(
          ['what', 'value', ''],
          rows.map(({ what, value, unit, note }) => [what, `${value} ${unit}`, note ?? '']),
        )}\n`,
  );
} finally {
  await cluster.stop();
  rmSync(scratch, { recursive: true, force: true });
}
