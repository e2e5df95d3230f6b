import { expect, test } from 'vitest';
import { runSchemathesis } from './schemathesis/run.ts';

test('schemathesis finds nothing in 10,000 cases and more', async ({ skip }) => {
  const result = await runSchemathesis(20, () => undefined);
  if (result.kind === 'skipped') {
    skip(result.why);
    return;
  }
  console.log(`${result.cases} cases, ${result.failures} failures`);
  expect(result.report).toBe('');
  expect(result.failures).toBe(0);
  expect(result.cases).toBeGreaterThanOrEqual(10_000);
});
