import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

test('syncs before it answers, and concurrent calls share the sync', async () => {
  const { sandbox, call } = await startFixture({ data: folder });
  const events: string[] = [];
  const exec = Reflect.get<DatabaseSync, 'exec'>(DatabaseSync.prototype, 'exec');
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql: string) {
    exec.call(this, sql);
    if (sql === 'COMMIT') events.push('commit');
  });
  const box = (name: string): object => ({
    schema: `${sandbox.schemaBase}/boxes/script`,
    name,
    requirements: [],
  });
  const calls = ['a', 'b', 'c'].map(async (name) => {
    const { status } = await call('POST', '/services/boxes', box(name));
    events.push(`answer ${status}`);
  });
  // A reader that sees what is not yet committed waits as well.
  const reader = call('GET', '/services/boxes').then(({ body }) => events.push(`read ${body.length}`));
  await Promise.all([...calls, reader]);
  expect(events).toEqual(['commit', 'answer 200', 'answer 200', 'answer 200', 'read 3']);
  await sandbox.stop();
});

test('keeps a write-ahead log with full synchronisation', () => {
  const database = new Database(folder);
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  database.close();
});

test('a call that fails takes back its own writes and leaves those that share its commit', async () => {
  const { database, docs } = table(folder);
  database.share(() => docs.put({ id: '1', group: 'a' }));
  expect(() =>
    database.share(() => {
      docs.put({ id: '1', group: 'b' });
      docs.put({ id: '2', group: 'b' });
      throw new Error('no');
    }),
  ).toThrow('no');
  database.share(() => docs.put({ id: '3', group: 'a' }));
  await database.settled();
  expect(docs.all().map((doc) => doc.id)).toEqual(['1', '3']);
  database.close();
  const again = table(folder);
  expect(again.docs.all()).toEqual(docs.all());
  again.database.close();
});
