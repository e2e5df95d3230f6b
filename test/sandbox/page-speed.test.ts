import { expect, it } from 'vitest';
import { startFixture } from '../../src/sandbox/fixture.ts';
import type { Snapshot } from '../../src/sandbox/admin/snapshot.ts';

const ROWS = 10_000;
const LIMIT_MS = 50;

interface Doc {
  id: string;
  name: string;
  updated: string;
  tags: string[];
}

/** The same record `count` times, each with an id and a name of its own. */
function multiplied(from: Snapshot, table: string, count: number): Snapshot {
  const [row] = from.tables[table] ?? [];
  const docs = Array.from({ length: count }, (_, n) => {
    const doc = JSON.parse(row?.doc ?? '{}') as Doc;
    const number = String(n).padStart(5, '0');
    const id = `${doc.id.slice(0, -5)}${number}`;
    const own = {
      id,
      name: `${doc.name} ${number}`,
      tags: [`tag-${n % 100}`],
      updated: doc.updated.slice(0, -5) + number,
    };
    return { id, doc: JSON.stringify({ ...doc, ...own }) };
  });
  return { ...from, tables: { ...from.tables, [table]: docs } };
}

it(`shows a screen of ${ROWS} instances, boxes or calls within ${LIMIT_MS} ms of processor time`, async () => {
  const { call, clock, deploy, deployable, sandbox } = await startFixture();
  const boxes = await deployable({ install: 'echo one' });
  const instance = await deploy(boxes, { name: 'web' });
  await clock.advance(5_000);
  sandbox.admin.restore(multiplied(multiplied(sandbox.admin.snapshot(), 'instances', ROWS), 'boxes', ROWS));
  for (let n = 0; n < ROWS; n++) await call('GET', `/services/providers/${n}`);
  const form = Buffer.from('email=ops%40example.com&password=secret-1');
  const login = await call('POST', '/page/login', form, { host: 'localhost:1' });
  const headers = { host: 'localhost:1', cookie: (login.headers['set-cookie'] ?? '').split(';')[0] ?? '' };
  const slow: string[] = [];
  const told: string[] = [];
  for (const path of [
    '/page/instances',
    '/page/instances?page=200',
    '/page/instances?q=tag-42',
    '/page/instances?sort=name&owner=ops&state=done',
    '/page/instances?sort=-lease&size=200',
    '/page/boxes?q=0042',
    '/page/boxes?sort=-instances',
    '/page/calls',
    '/page/calls?q=9042&method=GET',
    '/page/blobs',
    `/page/instances/${instance.id.slice(0, -5)}00042`,
    `/page/boxes/${boxes.box.id.slice(0, -5)}00042`,
  ]) {
    const measured: number[] = [];
    for (let n = 0; n < 7; n++) {
      const before = process.cpuUsage();
      const { body, status } = await call('GET', path, undefined, headers);
      const { user, system } = process.cpuUsage(before);
      measured.push((user + system) / 1_000);
      expect([path, status]).toEqual([path, 200]);
      expect(body).toMatch(/id="(row-|facts)/);
    }
    const middle = measured.toSorted((a, b) => a - b)[3] ?? 0;
    told.push(`${middle.toFixed(1).padStart(6)} ms  ${path}`);
    if (middle > LIMIT_MS) slow.push(`${path}: ${middle.toFixed(0)} ms`);
  }
  console.log(told.join('\n'));
  expect(slow).toEqual([]);
  await sandbox.stop();
});
