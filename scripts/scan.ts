/**
 * Renders the chart and has it looked at by the scanners whose Go modules are pinned under test/scanners. Prints
 * what they object to, and exits with 1 when that is not among what scripts/scan/accepted.ts gives a reason for, or
 * when a reason is given there for what they no longer find.
 *
 * Usage: node scripts/scan.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { getPrograms, streamProgress } from '../src/devcluster/index.ts';
import { CHART, EVERYTHING } from '../test/chart/chart.ts';
import { ACCEPTED, type Accepted } from './scan/accepted.ts';
import { build, SCANNERS } from './scan/scanners.ts';

const RENDERINGS: Readonly<Record<string, object>> = {
  defaults: {},
  'everything on': EVERYTHING,
  'named namespaces': { namespaces: ['shop', 'lab'], allowedHosts: ['deploy.example.com'] },
};

interface Row {
  check: string;
  object: string;
  says: string;
  renderings: string[];
  reason: string | undefined;
}

function render(helm: string, values: object): string {
  const args = ['template', 'boxwright', CHART, '--namespace', 'boxwright-system', '--values', '-'];
  const { status, stdout, stderr } = spawnSync(helm, args, {
    input: JSON.stringify(values),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`helm template: ${stderr}`);
  return stdout;
}

const { helm } = await getPrograms({
  env: process.env,
  clock: systemClock,
  progress: streamProgress(process.stderr, systemClock),
});
const scratch = mkdtempSync(join(tmpdir(), 'boxwright-scan-'));
let ran = 0;
let open = 0;
const outlived: Accepted[] = [];
try {
  const files = Object.entries(RENDERINGS).map(([name, values], index): [string, string] => {
    // A folder each: Trivy takes all that is in one.
    const folder = join(scratch, String(index));
    mkdirSync(folder);
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, render(helm, values));
    return [name, file];
  });
  for (const scanner of SCANNERS) {
    const program = await build(scanner);
    if (program === undefined) continue;
    ran += 1;
    const unused = new Set(ACCEPTED.filter((each) => each.scanner === scanner.name));
    const rows = new Map<string, Row>();
    for (const [rendering, file] of files) {
      for (const { check, object, says } of scanner.scan(program, file)) {
        const key = `${check} ${object} ${says}`;
        const accepted = ACCEPTED.find(
          (each) =>
            each.scanner === scanner.name && each.check === check && each.object?.test(object) !== false,
        );
        if (accepted !== undefined) unused.delete(accepted);
        const row = rows.get(key) ?? { check, object, says, renderings: [], reason: accepted?.reason };
        if (!row.renderings.includes(rendering)) row.renderings.push(rendering);
        rows.set(key, row);
      }
    }
    outlived.push(...unused);
    const all = [...rows.values()].toSorted((one, other) => one.check.localeCompare(other.check));
    const unanswered = all.filter(({ reason }) => reason === undefined).length;
    open += unanswered;
    process.stdout.write(`\n${scanner.name}: ${all.length} findings, ${unanswered} of them not accepted\n`);
    for (const { check, object, says, renderings, reason } of all) {
      const where = renderings.length === files.length ? 'always' : renderings.join(', ');
      process.stdout.write(
        `  ${reason === undefined ? 'OPEN    ' : 'accepted'}  ${check}  ${object} (${where})\n`,
      );
      process.stdout.write(`            ${says}\n`);
      if (reason !== undefined) process.stdout.write(`            because: ${reason}\n`);
    }
  }
} finally {
  rmSync(scratch, { recursive: true });
}
for (const { scanner, check, object } of outlived) {
  const where = object === undefined ? '' : ` (${object.source})`;
  process.stdout.write(
    `\n${scanner}: ${check}${where} is accepted in scripts/scan/accepted.ts, and found nowhere\n`,
  );
}
process.stdout.write(`\n${ran} of ${SCANNERS.length} scanners ran, ${open} findings are open\n`);
process.exit(open > 0 || outlived.length > 0 || ran === 0 ? 1 : 0);
