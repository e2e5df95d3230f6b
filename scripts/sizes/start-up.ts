import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
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

/** What a start took, milliseconds. */
interface Took {
  wall: number;
  /** Of all threads: on a machine with other work to do it is what can be compared. */
  cpu: number;
}

/** Runs Node to its end. */
function runNode(...argv: string[]): Took {
  const startedAt = systemClock.monotonic();
  // Only a shell tells what its children used.
  const { status, stdout } = spawnSync(
    'sh',
    ['-c', '"$@" >/dev/null 2>&1 && times', 'sh', process.execPath, ...argv],
    { encoding: 'utf8' },
  );
  const wall = systemClock.monotonic() - startedAt;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`);
  const [, children = ''] = stdout.trim().split('\n');
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return { wall, cpu: seconds.reduce((a, b) => a + b, 0) * 1_000 };
}

/** Node with an empty script, then each of the words, over and over: what is compared ran at the same time. */
export function wordTimes({ main }: Started, empty: string): { rows: Row[]; alone: Took[] } {
  const words = [['version'], ['operator', '--help']];
  const rounds = Array.from({ length: RUNS }, () => ({
    alone: runNode(empty),
    told: words.map((each) => runNode(main, ...each)),
  }));
  const alone = rounds.map((round) => round.alone);
  return {
    alone,
    rows: [
      ...tookRows('node with an empty script', alone, alone),
      ...words.flatMap((each, i) =>
        tookRows(
          `boxwright ${each.join(' ')}`,
          rounds.map(({ told }) => told[i] ?? { wall: NaN, cpu: NaN }),
          alone,
        ),
      ),
    ],
  };
}

/** Times, and how many times those of Node alone they are. */
function tookRows(what: string, took: readonly Took[], alone: readonly Took[]): Row[] {
  // Of all runs together: a shell tells CPU time in hundredths of a second.
  const sum = (runs: readonly Took[], kind: keyof Took): number =>
    runs.reduce((total, run) => total + run[kind], 0);
  const times = (kind: keyof Took): string => (sum(took, kind) / sum(alone, kind)).toFixed(2);
  const cpu = median(took.map((each) => each.cpu));
  const wall = median(took.map((each) => each.wall));
  const ratio = took === alone ? '' : `; ${times('wall')} × node alone, in CPU time ${times('cpu')} ×`;
  return [{ what, ...wall, unit: 'ms', note: `${wall.note}; CPU ${cpu.value} ms${ratio}` }];
}

/** From the start of the operator's process until /readyz says ok, and what it holds of memory then; medians. */
export async function operatorTimes({ main, kubeconfig }: Started, alone: readonly Took[]): Promise<Row[]> {
  const ready: Took[] = [];
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
      ready.push({ wall: systemClock.monotonic() - startedAt, cpu: cpuMs(child.pid ?? 0) });
      await systemClock.sleep(SETTLED_MS);
      memory.push(residentMiB(child.pid ?? 0));
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }
  return [
    ...tookRows('boxwright operator until /readyz', ready, alone),
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

/** What all threads of a process used so far; Linux only, elsewhere NaN. */
function cpuMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ran = threads.map((id) =>
      Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
    );
    return ran.reduce((a, b) => a + b, 0) / 1e6;
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

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function median(values: readonly number[]): { value: number; note: string } {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return {
    value: Math.round(middle(values)),
    note: `${at(0)} to ${at(sorted.length - 1)} in ${sorted.length} runs`,
  };
}
