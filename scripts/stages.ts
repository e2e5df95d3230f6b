/**
 * Runs stages one after the other, all of them whatever fails, and prints how each ended and, as the last
 * line, how many tests passed and failed. Exits with 1 when anything failed. Commands that follow one another
 * run two at a time, and each prints all that it has to say once it has ended; tests have both cores anyway.
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

/** Most of them keep one core busy. */
const COMMANDS_AT_A_TIME = 2;

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

/** Runs steps and returns how they ended, in their order; fewer when a signal came meanwhile. */
async function runSteps(steps: readonly Step[]): Promise<Outcome[]> {
  const ended = new Map<Step, Outcome>();
  const waiting = [...steps];
  const nextOf = (kind: Step['kind']): Step | undefined => {
    if (interrupted) waiting.length = 0;
    return waiting[0]?.kind === kind ? waiting.shift() : undefined;
  };
  const runAll = async (kind: Step['kind']): Promise<void> => {
    for (let step = nextOf(kind); step !== undefined; step = nextOf(kind))
      ended.set(step, await runStep(step));
  };
  while (waiting.length > 0) {
    await Promise.all(Array.from({ length: COMMANDS_AT_A_TIME }, () => runAll('command')));
    await runAll('tests');
  }
  return steps.map((step) => ended.get(step)).filter((outcome) => outcome !== undefined);
}

async function runStep(step: Step): Promise<Outcome> {
  const start = performance.now();
  const heading = `\n== ${step.name}\n`;
  if (step.kind === 'tests') process.stdout.write(heading);
  const result = step.kind === 'command' ? await runCommand(step.command) : await runTests(step.projects);
  const ms = performance.now() - start;
  if (step.kind === 'command') process.stdout.write(heading + result.output);
  process.stdout.write(`== ${step.name}: ${result.ok ? 'ok' : 'FAILED'} (${formatDuration(ms)})\n`);
  const { ok, totals, failures } = result;
  return { name: step.name, ok, ms, totals, failures };
}

interface Result extends Omit<Outcome, 'name' | 'ms'> {
  /** What is not printed yet. */
  output: string;
}

async function runCommand(words: readonly string[]): Promise<Result> {
  const { code, output } = await run(words, 'pipe');
  const ok = code === 0;
  // Counted among the failures, so that the last line never looks better than the run was.
  return { ok, totals: ok ? NO_TESTS : { passed: 0, failed: 1, skipped: 0 }, failures: [], output };
}

async function runTests(projects: readonly string[]): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-report-'));
  const report = join(folder, 'report.json');
  try {
    const words = ['vitest', 'run', ...projects.flatMap((project) => ['--project', project])];
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { code } = await run([...words, ...reporters], 'inherit');
    const read = readReport(report);
    const totals = totalsOf(read, code);
    const failures = failuresOf(read, process.cwd());
    if (totals.failed > 0 && failures.length === 0) failures.push('outside of any test: it is told above');
    return { ok: totals.failed === 0, totals, failures, output: '' };
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

interface Exit {
  /** 1 when a signal ended the command or it could not be started. */
  code: number;
  /** What it wrote, with `pipe`. */
  output: string;
}

function run([program = '', ...args]: readonly string[], out: 'inherit' | 'pipe'): Promise<Exit> {
  return new Promise((resolve) => {
    const forward = (signal: NodeJS.Signals): void => {
      interrupted = true;
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    // Before the child is there: one that comes meanwhile is heard afterwards, and does not leave it an orphan.
    for (const signal of signals) process.on(signal, forward);
    const child = spawn(program, args, { stdio: ['inherit', out, out] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const finish = (code: number | null): void => {
      for (const signal of signals) process.off(signal, forward);
      resolve({ code: code ?? 1, output });
    };
    // `close` comes once all of its output is here.
    child.once('close', finish);
    child.once('error', (error) => {
      output += `${program}: ${error.message}\n`;
      if (out === 'inherit') process.stderr.write(output);
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
const outcomes = await runSteps(names.flatMap((name) => STAGES[name] ?? []));

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
