import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSandbox, SANDBOX_FLAGS, type SandboxCommandOptions } from './command.ts';

const options: SandboxCommandOptions = { host: '127.0.0.1', port: 0, adminPort: 0, data: ':memory:' };

test('prints addresses and credentials once and ends when it is told to', async () => {
  const written: string[] = [];
  const stop = new AbortController();
  await runSandbox(
    {
      ...options,
      email: 'me@example.com',
      password: 'pw',
      token: 'tk',
      team: ['Shop'],
      duration: ['deploy=5'],
    },
    {
      write: (text) => {
        written.push(text);
        stop.abort();
      },
      signal: stop.signal,
    },
  );
  expect(written).toHaveLength(1);
  for (const part of ['http://127.0.0.1:', 'me@example.com', 'pw', 'tk', 'me, shop']) {
    expect(written[0]).toContain(part);
  }
});

test.each([
  [{ duration: ['deploy'] }, 'write it as name=value'],
  [{ duration: ['sleep=1'] }, 'choose one of deploy'],
  [{ duration: ['deploy=soon'] }, 'give milliseconds'],
  [{ reading: ['colour=red'] }, 'no reading is called "colour"'],
  [{ header: ['token'] }, 'write it as name=value'],
  [{ header: ['cookie=X'] }, 'choose token=NAME or release=NAME'],
  [{ header: ['token=a b'] }, '"a b" is not the name of a header'],
  [{ schemaBase: 'schemas' }, 'give an absolute URI'],
  [{ schemaBase: 'http://x/schemas?a=b' }, 'give an absolute URI'],
  [{ as: ['modern'] }, 'no readings are bundled as "modern"'],
  [{ reading: ['gone=200'] }, 'reading gone cannot be "200": choose one of 403, 404'],
])('says what is wrong with %j', async (wrong, message) => {
  const io = { write: () => undefined, signal: AbortSignal.abort() };
  await expect(runSandbox({ ...options, ...wrong }, io)).rejects.toThrow(message);
});

test('every flag of the command line has a description', () => {
  for (const flag of SANDBOX_FLAGS) expect(flag.description).not.toBe('');
  expect(new Set(SANDBOX_FLAGS.map((flag) => flag.name)).size).toBe(SANDBOX_FLAGS.length);
});

// V15
test('credentials and data are for their owner only, whoever made the files before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-private-'));
  const credentialsFile = join(folder, 'creds.json');
  const database = join(folder, 'sandbox.db');
  for (const file of [credentialsFile, database]) writeFileSync(file, '');
  for (const path of [credentialsFile, database]) chmodSync(path, 0o644);
  const stop = new AbortController();
  await runSandbox(
    { ...options, data: folder, token: 'tk', credentialsFile },
    { write: () => stop.abort(), signal: stop.signal },
  );
  expect((JSON.parse(readFileSync(credentialsFile, 'utf8')) as { token: string }).token).toBe('tk');
  for (const path of [credentialsFile, database]) expect(statSync(path).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});
