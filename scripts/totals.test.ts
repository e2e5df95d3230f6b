import { describe, expect, it } from 'vitest';
import { addTotals, failuresOf, finalLine, totalsOf } from './totals.ts';

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

describe('failuresOf', () => {
  it('names each failed test, and a file that failed before its tests, with the first line of the reason', () => {
    const testResults = [
      {
        name: '/p/a.test.ts',
        status: 'passed',
        assertionResults: [{ status: 'passed', fullName: 'is well' }],
      },
      {
        name: '/p/test/b.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [
          { status: 'passed', fullName: 'is well' },
          { status: 'failed', fullName: 'a box is made', failureMessages: ['Error: no box\n    at b.ts:1'] },
        ],
      },
      {
        name: '/p/test/c.test.ts',
        status: 'failed',
        message: 'Error: not found\n  at c.ts:1',
        assertionResults: [{ status: 'skipped', fullName: 'never ran' }],
      },
    ];
    expect(failuresOf(report(2, 1, { testResults }), '/p')).toEqual([
      'test/b.test.ts: a box is made: Error: no box',
      'test/c.test.ts: Error: not found',
    ]);
    expect(failuresOf(undefined, '/p')).toEqual([]);
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
