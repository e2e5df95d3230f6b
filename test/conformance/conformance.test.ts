import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { freshSandbox } from './fresh.ts';
import { compare, INVENTORY } from './inventory.ts';
import { MARKS } from './marks.ts';
import { statementsOf, type Statement } from './statements.ts';
import { runSuite, summary } from './suite.ts';
import { World } from './world.ts';

/** Where a copy of the interface document is, for who has one. */
const DOCUMENT = process.env['BOXWRIGHT_INTERFACE_DOCUMENT'] ?? '';

test('a fresh embedded service conforms in every row of the inventory', async () => {
  const { cast, stop } = await freshSandbox();
  const results = await runSuite(new World(cast));
  await stop();
  console.log(summary(results));
  const bad = results.filter((result) => ['failed', 'skipped'].includes(result.outcome));
  expect(bad.map(({ row, reason }) => `${row.section} ${row.says}: ${reason}`)).toEqual([]);
}, 300_000);

test('defects are found by the rows that speak of them', async () => {
  const { sandbox, cast, stop } = await freshSandbox();
  sandbox.admin.setReadings({ boxPut: 'more', operationStatus: '200', passwords: 'masked' });
  const path = '/services/workspaces/{workspace_id}';
  sandbox.admin.addFault({ match: { route: path, method: 'DELETE' }, status: 500 });
  sandbox.admin.addFault({ match: { route: '/services/boxes/{box_id}/stack' }, body: 'wrong-types' });
  sandbox.admin.addFault({ match: { route: '/services/blobs/upload' }, body: 'html' });
  const results = await runSuite(new World(cast));
  await stop();
  const failed = results.filter((result) => result.outcome === 'failed').map((result) => result.row.says);
  for (const says of [
    'PUT box changes the listed fields only; 400, 403, 404',
    'PUT shutdown: 202, or 409',
    'DELETE workspace: 204, 403, 404',
    'stack: the box first, then those of its Box variables',
    'a multipart upload: 200, or 400',
  ]) {
    expect(failed).toContain(says);
  }
  expect(failed).not.toContain('GET box: 200, 403, 404');
}, 300_000);

test('the read-only mode sends nothing but GET, and calls that are refused', async () => {
  const { sandbox, cast, stop } = await freshSandbox();
  sandbox.admin.clearCalls();
  const results = await runSuite(new World(cast), { readOnly: true });
  const writes = sandbox.admin.calls().filter((call) => call.method !== 'GET' && call.status < 400);
  await stop();
  expect(writes).toEqual([]);
  expect(results.filter((result) => result.outcome === 'failed')).toEqual([]);
  expect(results.filter((result) => result.outcome === 'passed').length).toBeGreaterThan(20);
});

test('every statement of the interface document has a row, and at most 5 % of the rows are untestable', () => {
  const statements = MARKS.map((mark): Statement => ({ section: '', text: '', mark }));
  expect(compare(statements)).toEqual({ unmapped: [], unknown: [] });
  const untestable = INVENTORY.filter((row) => row.untestable !== undefined);
  expect(untestable.length / INVENTORY.length).toBeLessThanOrEqual(0.05);
  for (const row of untestable) expect(row.untestable).not.toBe('');
});

test.skipIf(!existsSync(DOCUMENT))('the marks are those of the document', () => {
  const marks = statementsOf(readFileSync(DOCUMENT, 'utf8')).map((statement) => statement.mark);
  expect([...MARKS]).toEqual(marks);
});

test('a new sentence or row of the document is noticed', () => {
  const statements = statementsOf(
    '## 4. Endpoints\n\nAll is new. | not a row\n\n| a | b |\n|---|---|\n| new | row |\n',
  );
  expect(statements.map((statement) => statement.text)).toEqual(['All is new. | not a row', '| new | row |']);
  expect(compare(statements).unmapped).toHaveLength(2);
});
