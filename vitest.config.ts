import { defineConfig } from 'vitest/config';

/** By default Vitest keeps one core for itself: on two, it would run one file at a time. */
const FILES_AT_A_TIME = 2;

/**
 * Most of the time of a small test file is a process of its own that reads the project anew. What shares one here
 * keeps no state in modules; spies are taken away before each test.
 */
const SHARED_PROCESS = { isolate: false, restoreMocks: true, maxWorkers: FILES_AT_A_TIME };

/**
 * unit: beside the source and the judges, no process and no network but loopback; faults: whole worlds in one process on a
 * virtual clock; page: the page of the embedded service in a browser; integration: against the real control
 * plane, which one global setup starts per run; long: what takes more than a few minutes.
 */
export default defineConfig({
  test: {
    // The integration run compares audit logs at its end: cut short, it would pass without having done so.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'test/judges/**/*.test.ts'],
          environment: 'node',
          // None takes a second by itself, but the machine may have other things to do.
          testTimeout: 20_000,
          ...SHARED_PROCESS,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/{faults,interleavings,answers}/**/*.test.ts'],
          exclude: ['test/{faults,interleavings,answers}/**/*.{long,real}.test.ts'],
          environment: 'node',
          testTimeout: 60_000,
          maxWorkers: FILES_AT_A_TIME,
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          exclude: ['test/scenarios/**/*.long.test.ts'],
          environment: 'node',
          testTimeout: 60_000,
          ...SHARED_PROCESS,
        },
      },
      {
        test: {
          name: 'page',
          include: ['test/sandbox/page*.test.ts'],
          environment: 'node',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: FILES_AT_A_TIME,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/**/*.long.test.ts',
            'test/faults/**/!(*.real).test.ts',
            'test/sandbox/page*.test.ts',
            'test/{scenarios,interleavings,answers,judges}/**',
            'node_modules/**',
          ],
          environment: 'node',
          globalSetup: ['test/support/control-plane.ts'],
          // Two slow cores, and another test file at the same time: what hangs may be told late.
          testTimeout: 180_000,
          hookTimeout: 300_000,
          maxWorkers: FILES_AT_A_TIME,
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/**/*.long.test.ts'],
          environment: 'node',
          globalSetup: ['test/support/control-plane.ts'],
          testTimeout: 3_600_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
