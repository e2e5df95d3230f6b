import { expect, test } from 'vitest';
import { ok, startFixture } from '../../src/sandbox/fixture.ts';
import { runAgainst, type Description } from './openapi.ts';

async function description(): Promise<Description> {
  const { call, sandbox } = await startFixture();
  const served = await ok(call('GET', '/openapi.json', undefined, { 'service-token': '' }));
  await sandbox.stop();
  return served as Description;
}

test('describes every operation once, with a name, its codes and typed bodies', async () => {
  const { openapi, paths } = await description();
  expect(openapi).toBe('3.1.0');
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const names = operations.map((operation) => (operation as unknown as { operationId: string }).operationId);
  expect(new Set(names).size).toBe(names.length);
  expect(operations.length).toBeGreaterThanOrEqual(50);
  for (const { responses } of operations) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '404', '405', '500']));
  }
});

test('answers within its own description to valid and invalid inputs', async () => {
  const report = await runAgainst(await description(), 110);
  console.log(`${report.cases} cases, ${JSON.stringify(report.statuses)}`);
  expect(report.findings).toEqual([]);
  expect(report.cases).toBeGreaterThanOrEqual(5_000);
}, 600_000);

test('a planted wrong answer is found', async () => {
  const report = await runAgainst(await description(), 5, ({ sandbox }) => {
    sandbox.admin.addFault({
      match: { route: '/services/boxes/{box_id}', method: 'GET' },
      body: 'wrong-types',
    });
  });
  expect(report.findings.join('\n')).toContain('GET /services/boxes/');
});
