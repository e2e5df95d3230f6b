import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { expect, test } from 'vitest';

const SERVE = fileURLToPath(new URL('serve.ts', import.meta.url));
const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

test.skipIf(!canTrace)('the kernel is asked to sync before the answer to a write goes out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-sync-'));
  const file = join(folder, 'credentials.json');
  const trace = join(folder, 'trace');
  const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg';
  const args = ['-f', '-s', '200', '-e', calls, '-o', trace, process.execPath, SERVE, folder, '0', file];
  const child = spawn('strace', args, { stdio: 'ignore', detached: true });
  try {
    while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('}\n')) await pause();
    const { url, schemaBase } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; schemaBase: string };
    const box = { schema: `${schemaBase}/boxes/script`, name: 'synced-box', requirements: [] };
    const headers = { 'service-token': 'kill-token' };
    const answer = await request(`${url}/services/boxes`, {
      method: 'POST',
      headers,
      body: JSON.stringify(box),
    });
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
    const read = (): string[] => readFileSync(trace, 'utf8').split('\n');
    while (!read().some(isAnswer)) await pause();
    const lines = read();
    const answered = lines.findIndex(isAnswer);
    const before = lines.slice(0, answered).filter((line) => /fsync|fdatasync/.test(line));
    expect(before.at(-1)).toMatch(/= 0$/);
    // The answer's own sync comes after whatever the start-up wrote to the terminal or the credentials file.
    const credentials = lines.findLastIndex((line, n) => n < answered && line.includes('adminToken'));
    const synced = lines.findLastIndex((line, n) => n < answered && /fsync|fdatasync/.test(line));
    expect(synced).toBeGreaterThan(credentials);
  } finally {
    // The group: strace alone would let go of the sandbox and leave it running.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

const isAnswer = (line: string): boolean => line.includes('HTTP/1.1 200') && !line.includes('resumed');

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
