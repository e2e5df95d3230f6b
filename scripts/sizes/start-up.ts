import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import type { Row } from './static.ts';

const RUNS = 5;
const LOOK_EVERY_MS = 5;
const READY_LIMIT_MS = 60_000;
/** The caches are filled and the start's garbage is collected by then. */
const SETTLED_MS = 3_000;

/** What is started: the bundle, or the sources. */
export interface Started {
  main: string;
  kubeconfig: string;
}

/** From the start of the process to the end of `version` and of `operator --help`; medians. */
export async function wordTimes({ main }: Started): Promise<Row[]> {
  const rows: Row[] = [];
  for (const words of [['version'], ['operator', '--help']]) {
    const times = await repeat(async () => {
      const startedAt = systemClock.monotonic();
      const child = spawn(process.execPath, [main, ...words], { stdio: 'ignore' });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
      return systemClock.monotonic() - startedAt;
    });
    rows.push({ what: `boxwright ${words.join(' ')}`, ...median(times), unit: 'ms' });
  }
  return rows;
}

/** From the start of the operator's process until /readyz says ok, and what it holds of memory then; medians. */
export async function operatorTimes({ main, kubeconfig }: Started): Promise<Row[]> {
  const ready: number[] = [];
  const memory: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const port = await freePort();
    const startedAt = systemClock.monotonic();
    const child = spawn(
      process.execPath,
      [
        main,
        'operator',
        `--kubeconfig=${kubeconfig}`,
        '--namespace=default',
        `--metrics-address=127.0.0.1:${port}`,
        '--log-format=json',
        '--leader-elect=false',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, KUBECONFIG: '' } },
    );
    const said: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    const ended = once(child, 'exit');
    try {
      await untilReady(`http://127.0.0.1:${port}/readyz`, () => {
        if (child.exitCode !== null) throw new Error(`the operator has ended:\n${said.join('')}`);
      });
      ready.push(systemClock.monotonic() - startedAt);
      await systemClock.sleep(SETTLED_MS);
      memory.push(residentMiB(child.pid ?? 0));
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }
  return [
    { what: 'boxwright operator until /readyz', ...median(ready), unit: 'ms' },
    { what: 'boxwright operator, resident memory', ...median(memory), unit: 'MiB' },
  ];
}

async function untilReady(url: string, check: () => void): Promise<void> {
  const deadline = systemClock.monotonic() + READY_LIMIT_MS;
  for (;;) {
    check();
    // Refused until it listens.
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
    if (systemClock.monotonic() > deadline) throw new Error(`not ready after ${READY_LIMIT_MS} ms`);
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

/** VmRSS of a process; Linux only, elsewhere NaN. */
function residentMiB(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function repeat(measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let run = 0; run < RUNS; run += 1) values.push(await measure());
  return values;
}

function median(values: readonly number[]): { value: number; note: string } {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return {
    value: at(Math.floor(sorted.length / 2)),
    note: `${at(0)} to ${at(sorted.length - 1)} in ${sorted.length} runs`,
  };
}
