/**
 * Runs stages one after the other, all of them whatever fails, and prints how each ended and, as the last
 * line, how many tests passed and failed. Exits with 1 when anything failed.
 *
 * Usage: node scripts/stages.ts <stage...>, with stages `check`, `integration`, `long`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDuration } from '../src/base/duration.ts';
import { addTotals, failuresOf, finalLine, NO_TESTS, totalsOf, type Totals } from './totals.ts';

type Step =
  | { kind: 'command'; name: string; command: readonly string[] }
  | { kind: 'tests'; name: string; projects: readonly string[] };

interface Outcome {
  name: string;
  ok: boolean;
  ms: number;
  totals: Totals;
  /** What failed, a line each. */
  failures: readonly string[];
}

const STAGES: Readonly<Record<string, readonly Step[]>> = {
  check: [
    command('format', 'prettier', '--check', '--log-level', 'warn', '--cache', '.'),
    command('lint', 'oxlint', '--type-aware', '--deny-warnings', '.'),
    command('types', 'tsc'),
    command('types of the page', 'tsc', '-p', 'src/sandbox/page/client'),
    command('generated files', process.execPath, 'scripts/gen.ts', '--check'),
    command('import directions', process.execPath, 'scripts/check-imports.ts'),
    tests('unit', 'scenarios'),
  ],
  integration: [tests('faults'), tests('page'), tests('integration')],
  long: [tests('long')],
};

function command(name: string, ...words: string[]): Step {
  return { kind: 'command', name, command: words };
}

function tests(...projects: string[]): Step {
  return { kind: 'tests', name: `${projects.join(' and ')} tests`, projects };
}

async function runStep(step: Step): Promise<Outcome> {
  const start = performance.now();
  process.stdout.write(`\n== ${step.name}\n`);
  const result = step.kind === 'command' ? await runCommand(step.command) : await runTests(step.projects);
  const ms = performance.now() - start;
  process.stdout.write(`== ${step.name}: ${result.ok ? 'ok' : 'FAILED'} (${formatDuration(ms)})\n`);
  return { name: step.name, ms, ...result };
}

type Result = Omit<Outcome, 'name' | 'ms'>;

async function runCommand(words: readonly string[]): Promise<Result> {
  const ok = (await run(words)) === 0;
  // Counted among the failures, so that the last line never looks better than the run was.
  return { ok, totals: ok ? NO_TESTS : { passed: 0, failed: 1, skipped: 0 }, failures: [] };
}

async function runTests(projects: readonly string[]): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-report-'));
  const report = join(folder, 'report.json');
  try {
    const code = await run([
      'vitest',
      'run',
      ...projects.flatMap((project) => ['--project', project]),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ]);
    const read = readReport(report);
    const totals = totalsOf(read, code);
    const failures = failuresOf(read, process.cwd());
    if (totals.failed > 0 && failures.length === 0) failures.push('outside of any test: it is told above');
    return { ok: totals.failed === 0, totals, failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch {
    // Vitest ended before it could write one: totalsOf counts that as a failure.
    return undefined;
  }
}

/** The exit code; 1 when a signal ended the command or it could not be started. */
function run([program = '', ...args]: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit' });
    const forward = (signal: NodeJS.Signals): void => {
      interrupted = true;
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, forward);
    const finish = (code: number | null): void => {
      for (const signal of signals) process.off(signal, forward);
      resolve(code ?? 1);
    };
    child.once('exit', finish);
    child.once('error', (error) => {
      process.stderr.write(`${program}: ${error.message}\n`);
      finish(1);
    });
  });
}

let interrupted = false;
const names = process.argv.slice(2);
const unknown = names.filter((name) => STAGES[name] === undefined);
if (names.length === 0 || unknown.length > 0) {
  process.stderr.write(`usage: node scripts/stages.ts <${Object.keys(STAGES).join('|')}>...\n`);
  process.exit(2);
}
const outcomes: Outcome[] = [];
for (const step of names.flatMap((name) => STAGES[name] ?? [])) {
  if (!interrupted) outcomes.push(await runStep(step));
}

process.stdout.write('\n');
for (const { name, ok, ms, totals, failures } of outcomes) {
  const counts = totals.passed + totals.failed + totals.skipped > 0 && name.endsWith('tests');
  const detail = counts ? `  ${finalLine(totals)}` : '';
  process.stdout.write(
    `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(20)} ${formatDuration(ms).padStart(8)}${detail}\n`,
  );
  for (const failure of failures) process.stdout.write(`        ${failure}\n`);
}
const totals = outcomes.map((outcome) => outcome.totals).reduce(addTotals, NO_TESTS);
const good = totals.failed === 0 && totals.passed > 0 && !interrupted;
process.stdout.write(`\n${finalLine(totals)}\n`);
process.exit(good ? 0 : 1);
