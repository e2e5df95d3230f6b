import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { FileLock } from './file-lock.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'boxwright-lock-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('FileLock', () => {
  it('is held by one at a time and names its holder', () => {
    const path = join(dir, 'lock');
    const first = FileLock.tryAcquire(path);
    expect(FileLock.tryAcquire(path)).toBeUndefined();
    expect(FileLock.owner(path)).toBe(`process ${process.pid}`);
    first?.release();
    const second = FileLock.tryAcquire(path);
    expect(second).toBeDefined();
    second?.release();
  });

  it('is waited for, and says once for whom', async () => {
    const path = join(dir, 'lock');
    const clock = new VirtualClock();
    const first = FileLock.tryAcquire(path);
    const told: string[] = [];
    const waiting = FileLock.acquire(path, { clock, onWait: (owner) => told.push(owner) });
    await clock.advance(10_000);
    expect(told).toEqual([`process ${process.pid}`]);
    first?.release();
    await clock.advance(500);
    (await waiting).release();
  });

  it('stops waiting when it is told to', async () => {
    const path = join(dir, 'lock');
    const first = FileLock.tryAcquire(path);
    const abort = new AbortController();
    const waiting = FileLock.acquire(path, { clock: new VirtualClock(), signal: abort.signal });
    abort.abort(new Error('interrupted'));
    await expect(waiting).rejects.toThrow('interrupted');
    first?.release();
  });
});
