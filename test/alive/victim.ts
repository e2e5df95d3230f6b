/**
 * Somebody in another namespace, with a service of their own, who edits a Box again and again: in a thread of their own,
 * since whoever makes thousands of objects and serves lists of 60 MB would keep them waiting, too.
 */
/* oxlint-disable unicorn/require-post-message-target-origin -- threads are no windows */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.ts';
import { KubeClient, loadKubeConfig, UndiciKubePort, type KubeObject } from '../../src/kube/index.ts';
import { isReady } from '../bench/bench.ts';
import { eventually } from '../support/eventually.ts';
import { typeOfKind, type Shown } from '../support/world.ts';
import { HostileService } from './service.ts';

/** What an edit took until it was Ready. */
export interface Edit {
  /** By the clock, milliseconds. */
  ms: number;
  /** What the operator's main thread worked meanwhile, milliseconds. */
  work: number;
}

interface Data {
  kubeconfigPath: string;
  namespace: string;
}
type Told = { url: string } | Edit;

const EVERY_MS = 2_000;

/** The thread of a victim; `told` hears of each edit. */
export class Victim implements AsyncDisposable {
  readonly url: string;
  readonly #worker: Worker;

  private constructor(worker: Worker, url: string) {
    this.#worker = worker;
    this.url = url;
  }

  static async open(data: Data, told: (edit: Edit) => void): Promise<Victim> {
    const worker = new Worker(join(import.meta.dirname, 'victim.ts'), { workerData: data });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    worker.on('error', reject);
    worker.on('message', (message: Told) => {
      if ('url' in message) resolve(message.url);
      else told(message);
    });
    return new Victim(worker, await promise);
  }

  /** The operator is the process of that id from now on. */
  goOn(operator: number): void {
    this.#worker.postMessage(operator);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** How long the main thread of a process has worked so far, milliseconds (sched-stats: the first field is nanoseconds). */
function workedBy(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0] ?? 0) / 1e6;
  } catch {
    // It has just ended.
    return 0;
  }
}

async function edit({ kubeconfigPath, namespace }: Data): Promise<void> {
  const { source } = await loadKubeConfig({ file: kubeconfigPath });
  const port = new UndiciKubePort({ source, clock: systemClock });
  const client = new KubeClient(port, { clock: systemClock, random: Math.random, fieldManager: 'victim' });
  const service = await HostileService.open();
  parentPort?.postMessage({ url: service.url } satisfies Told);
  let operator = 0;
  parentPort?.on('message', (pid: number) => (operator = pid));
  const ref = { namespace, name: 'victim' };
  for (let i = 0; ; i++) {
    await systemClock.sleep(EVERY_MS);
    if (operator === 0) continue;
    const [begun, pid, worked] = [systemClock.monotonic(), operator, workedBy(operator)];
    await client.mergePatch(typeOfKind('Box'), ref, { spec: { description: `edit ${i}` } });
    const ready = async (): Promise<boolean> =>
      isReady(await client.get<Shown & KubeObject>(typeOfKind('Box'), ref));
    await eventually("the victim's change is in place", ready, { timeoutMs: 600_000, everyMs: 250 });
    const work = pid === operator ? workedBy(pid) - worked : 0;
    parentPort?.postMessage({ ms: systemClock.monotonic() - begun, work } satisfies Told);
  }
}

if (parentPort !== null && workerData !== null) await edit(workerData as Data);
