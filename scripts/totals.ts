import { relative } from 'node:path';

/** How many tests passed, failed and were skipped. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

export const NO_TESTS: Totals = { passed: 0, failed: 0, skipped: 0 };

/** The part of Vitest's JSON report that is read here. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: FileResult[];
}

interface FileResult {
  name?: string;
  status: string;
  message?: string;
  assertionResults: { status?: string; fullName?: string; failureMessages?: string[] }[];
}

/**
 * The totals of one Vitest run. A test file that could not be loaded counts as one failure, and so does a run
 * that failed for a reason that no test shows: no tests, no report, an error outside of any test.
 */
export function totalsOf(report: unknown, exitCode: number): Totals {
  if (!isReport(report)) return { ...NO_TESTS, failed: 1 };
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  const totals = {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
  const ranNothing = totals.passed + totals.failed === 0;
  return totals.failed === 0 && (exitCode !== 0 || ranNothing) ? { ...totals, failed: 1 } : totals;
}

/**
 * One line for each test that failed and each file that failed around its tests, with the first line of what was
 * said: so that the end of a log is enough to know what broke. `root` is what paths are told from.
 */
export function failuresOf(report: unknown, root: string): string[] {
  if (!isReport(report)) return [];
  return report.testResults
    .filter((file) => file.status === 'failed')
    .flatMap((file) => {
      const name = relative(root, file.name ?? '');
      const failed = file.assertionResults.filter((test) => test.status === 'failed');
      if (failed.length === 0) return [`${name}: ${firstLine(file.message)}`];
      return failed.map((test) => `${name}: ${test.fullName ?? ''}: ${firstLine(test.failureMessages?.[0])}`);
    });
}

function firstLine(text = ''): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

export function addTotals(a: Totals, b: Totals): Totals {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** The last line of a run, such as `120 passed, 0 failed, 2 skipped`. */
export function finalLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'numPassedTests' in value && 'testResults' in value;
}
