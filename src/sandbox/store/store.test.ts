import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ok, startFixture } from '../fixture.ts';
import { Database } from './database.ts';
import { Table } from './table.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-sandbox-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Doc {
  id: string;
  group: string;
}

function table(data = ':memory:'): { database: Database; docs: Table<Doc> } {
  const database = new Database(data);
  return { database, docs: new Table<Doc>(database, 'boxes', { group: (doc) => [doc.group] }) };
}

test('takes back everything of a transaction that fails, indexes included', () => {
  const { database, docs } = table();
  database.run(() => docs.put({ id: '1', group: 'a' }));
  expect(() =>
    database.run(() => {
      docs.put({ id: '1', group: 'b' });
      docs.put({ id: '2', group: 'a' });
      docs.delete('1');
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(docs.all()).toEqual([{ id: '1', group: 'a' }]);
  expect(docs.by('group', 'a')).toHaveLength(1);
  expect(docs.by('group', 'b')).toHaveLength(0);
});

test('shows a table as it was', () => {
  const { database, docs } = table();
  docs.remember(() => 0);
  database.run(() => docs.put({ id: '1', group: 'a' }));
  const seq = docs.seq;
  database.run(() => {
    docs.put({ id: '1', group: 'b' });
    docs.put({ id: '2', group: 'b' });
  });
  expect(docs.asOf(seq).all()).toEqual([{ id: '1', group: 'a' }]);
  expect(docs.asOf(seq).by('group', 'b')).toEqual([]);
  expect(docs.asOf(docs.seq).all()).toHaveLength(2);
});

test('refuses data of a newer layout, and data that another sandbox uses', () => {
  const open = new Database(folder);
  expect(() => new Database(folder)).toThrow('is another sandbox using it');
  open.close();
  const raw = new DatabaseSync(join(folder, 'sandbox.db'));
  raw.exec('PRAGMA user_version = 99');
  raw.close();
  expect(() => new Database(folder)).toThrow(/has layout 99, this build knows \d+/);
});

test('goes on where it was after a restart: records, tokens, time and what runs', async () => {
  const clock = new VirtualClock();
  const first = await startFixture({ clock, data: folder });
  const created = await first.deploy(await first.deployable({ install: 'echo x' }));
  await clock.advance(1500);
  first.sandbox.admin.jump(500);
  await first.sandbox.stop();
  await clock.advance(1000);

  const second = await startFixture({ clock, data: folder });
  expect(second.sandbox.credentials).toMatchObject({
    workspace: 'ops',
    teams: ['shop'],
    password: undefined,
  });
  expect((await second.call('GET', created.uri)).body.state).toBe('processing');
  await clock.advance(1000);
  const done = await ok(second.call('GET', created.uri));
  expect(done).toMatchObject({ state: 'done', name: created.name });
  await second.sandbox.stop();
});
