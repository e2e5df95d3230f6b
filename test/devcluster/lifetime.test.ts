import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { DataDirBusyError, startControlPlane } from '../../src/devcluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { isRunning } from '../support/processes.ts';
import { run } from '../support/run.ts';

interface Held {
  holder: ChildProcess;
  pids: number[];
  kubeconfigPath: string;
  auditLogPath: string;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A control plane in a process of its own, which the test may kill. */
async function hold(...args: string[]): Promise<Held> {
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-control-plane.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanups.push(() => holder.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: holder.stdout }), 'line')) as [string];
  return { holder, ...(JSON.parse(line) as Omit<Held, 'holder'>) };
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-test-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('the processes of a control plane', () => {
  it.each(['SIGKILL', 'SIGINT'] as const)(
    'end, and their files go, when the process that started them is ended by %s',
    async (signal) => {
      const { holder, pids, auditLogPath } = await hold();
      expect(pids.map(isRunning)).toEqual([true, true, true, true]);
      holder.kill(signal);
      const left = await eventually('all of them end', () => {
        const running = pids.filter(isRunning);
        return running.length === 0 && { running, files: existsSync(dirname(auditLogPath)) };
      });
      expect(left).toEqual({ running: [], files: false });
    },
  );

  it('end when their supervisor is killed', async () => {
    const { pids } = await hold();
    const [supervisor = 0] = pids;
    process.kill(supervisor, 'SIGKILL');
    const ended = await eventually('all of them end', () => !pids.some(isRunning));
    expect(ended).toBe(true);
  });

  it('are reported when one of them ends by itself', async () => {
    const running = await startControlPlane({ env: process.env, clock: systemClock });
    cleanups.push(() => running.stop());
    const [, etcd = 0] = running.pids;
    process.kill(etcd, 'SIGKILL');
    const error = await running.broken;
    expect(error.message).toContain('etcd ended by itself (SIGKILL)');
  });
});

describe('a control plane with a data directory', () => {
  it('has its objects, its address and its kubeconfig again after a restart', async () => {
    const dataDir = temporary();
    const first = await startControlPlane({ env: process.env, clock: systemClock, dataDir });
    const kubeconfig = join(temporary(), 'kubeconfig');
    const { kubectl } = first.programs;
    const env = { KUBECONFIG: kubeconfig, KUBECACHEDIR: temporary() };
    await run('cp', [first.kubeconfigPath, kubeconfig]);
    await run(kubectl, ['create', 'configmap', 'kept', '--from-literal=a=b'], { env });
    await first.stop();
    expect(first.pids.filter(isRunning)).toEqual([]);

    const second = await startControlPlane({ env: process.env, clock: systemClock, dataDir });
    cleanups.push(() => second.stop());
    expect(second.server).toBe(first.server);
    const kept = await run(kubectl, ['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'], { env });
    expect(kept).toMatchObject({ code: 0, stdout: 'b' });
  });

  it('refuses a second control plane on the same directory and names the first', async () => {
    const dataDir = temporary();
    const { holder } = await hold(dataDir);
    const second = startControlPlane({ env: process.env, clock: systemClock, dataDir });
    await expect(second).rejects.toThrow(DataDirBusyError);
    await expect(second).rejects.toThrow(`process ${holder.pid}`);
    expect(readFileSync(join(dataDir, 'lock.owner'), 'utf8')).toBe(`process ${holder.pid}`);
  });
});
