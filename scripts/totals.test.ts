import { describe, expect, it } from 'vitest';
import { addTotals, finalLine, totalsOf } from './totals.ts';

function report(passed: number, failed: number, extra: object = {}): object {
  return {
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
    ...extra,
  };
}

describe('totalsOf', () => {
  it('counts tests that pass, fail, are skipped or still to be written', () => {
    expect(totalsOf(report(5, 1, { numPendingTests: 2, numTodoTests: 1 }), 1)).toEqual({
      passed: 5,
      failed: 1,
      skipped: 3,
    });
  });

  it('counts a test file that could not be loaded as a failure', () => {
    const testResults = [{ status: 'failed', assertionResults: [] }];
    expect(totalsOf(report(5, 0, { testResults }), 1).failed).toBe(1);
  });

  it.each([
    ['there is no report', undefined, 1],
    ['no test ran', report(0, 0), 0],
    ['the run failed outside of any test', report(5, 0), 1],
  ])('counts one failure when %s', (_what, given, exitCode) => {
    expect(totalsOf(given, exitCode).failed).toBe(1);
  });
});

describe('finalLine', () => {
  it('names skipped tests only when there are any', () => {
    const some = { passed: 2, failed: 0, skipped: 0 };
    expect(finalLine(some)).toBe('2 passed, 0 failed');
    expect(finalLine(addTotals(some, { passed: 1, failed: 1, skipped: 3 }))).toBe(
      '3 passed, 1 failed, 3 skipped',
    );
  });
});
