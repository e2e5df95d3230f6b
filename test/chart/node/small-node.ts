import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { KubeClient } from '../../../src/kube/index.ts';
import type { TestCluster } from '../../support/cluster.ts';
import type { Image } from '../image.ts';
import { ask } from './probes.ts';
import { startContainer } from './process.ts';
import { PODS, type Pod } from './types.ts';

const LOOK_MS = 300;
const FAILURES = 3;

interface Running {
  pod: Pod;
  address: string;
  child: ChildProcess;
  log: string[];
  since: string;
  /** Answered its startup probe once. */
  started: boolean;
  failures: number;
  /** What was last written to its status, as text. */
  shown: string;
  exited: boolean;
}

/**
 * Stands in for scheduler and kubelet in one namespace: runs each pod's one container as a process and sets
 * the pod's status by its probes and its end. The pods themselves are made by the real controller manager.
 */
export class SmallNode implements AsyncDisposable {
  readonly #options: { cluster: TestCluster; client: KubeClient; namespace: string; image: Image };
  readonly #running = new Map<string, Running>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  /** Liveness probes that failed so often that a kubelet would have restarted the container. */
  dead = 0;
  #addresses = 0;
  #failure: unknown;

  constructor(options: { cluster: TestCluster; client: KubeClient; namespace: string; image: Image }) {
    this.#options = options;
    this.#ended = this.#run();
  }

  /** What the pods have logged, for failures. */
  get log(): string {
    const logs = [...this.#running.values()].map(
      ({ pod, log }) => `== ${pod.metadata.name}\n${log.join('')}`,
    );
    return `${logs.join('\n')}${this.#failure instanceof Error ? `\n${this.#failure.stack}` : ''}`;
  }

  /** Names of pods that run. */
  get pods(): string[] {
    return [...this.#running.values()].filter(({ exited }) => !exited).map(({ pod }) => pod.metadata.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the node is taken down'));
    await this.#ended;
    await Promise.all([...this.#running.values()].map((running) => end(running)));
  }

  async #run(): Promise<void> {
    const { client, namespace } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        const pods = await client.list<Pod>(PODS, { namespace });
        const present = new Set(pods.map(({ metadata }) => metadata.uid ?? ''));
        for (const [uid, running] of this.#running) {
          if (present.has(uid)) continue;
          this.#running.delete(uid);
          // It drains meanwhile, as in a cluster.
          void end(running);
        }
        await Promise.all(pods.map((pod) => this.#look(pod)));
      } catch (error) {
        this.#failure = error;
      }
      await systemClock.sleep(LOOK_MS);
    }
  }

  async #look(pod: Pod): Promise<void> {
    const running = this.#running.get(pod.metadata.uid ?? '');
    if (running === undefined) {
      if (pod.status?.phase === 'Pending') await this.#start(pod);
      return;
    }
    await this.#show(running);
  }

  async #start(pod: Pod): Promise<void> {
    const { cluster, image } = this.#options;
    const [container] = pod.spec.containers;
    if (container === undefined) return;
    const address = `127.0.${64 + (process.pid % 128)}.${(this.#addresses += 1)}`;
    const folder = mkdtempSync(join(image.scratch, 'pod-'));
    const { entryPoint } = image;
    const started = await startContainer(pod, container, { cluster, entryPoint, folder, address });
    const running: Running = {
      ...started,
      pod,
      address,
      since: new Date(systemClock.now()).toISOString().replace(/\.\d+/, ''),
      started: false,
      failures: 0,
      shown: '',
      exited: false,
    };
    started.child.once('exit', () => (running.exited = true));
    this.#running.set(pod.metadata.uid ?? '', running);
  }

  async #show(running: Running): Promise<void> {
    const { pod, address, since } = running;
    const { phase, ready } = await this.#judge(running);
    const status = {
      phase,
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: since,
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: type.endsWith('Ready') && !ready ? 'False' : 'True',
        lastTransitionTime: since,
      })),
    };
    const shown = JSON.stringify(status);
    if (shown === running.shown) return;
    running.shown = shown;
    const ref = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name };
    await this.#options.client.mergePatch(PODS, ref, { status }, { subresource: 'status' });
  }

  async #judge(running: Running): Promise<{ phase: string; ready: boolean }> {
    const { address, child, pod } = running;
    const [container] = pod.spec.containers;
    if (running.exited) return { phase: child.exitCode === 0 ? 'Succeeded' : 'Failed', ready: false };
    if (container?.readinessProbe === undefined) return { phase: 'Running', ready: true };
    const { startupProbe, livenessProbe, readinessProbe } = container;
    running.started ||= startupProbe === undefined || (await ask(startupProbe, container, address));
    if (!running.started) return { phase: 'Running', ready: false };
    if (livenessProbe !== undefined) {
      running.failures = (await ask(livenessProbe, container, address)) ? 0 : running.failures + 1;
      if (running.failures === FAILURES) this.dead += 1;
    }
    return { phase: 'Running', ready: await ask(readinessProbe, container, address) };
  }
}

async function end(running: Running): Promise<void> {
  if (running.exited) return;
  const exited = once(running.child, 'exit');
  running.child.kill('SIGTERM');
  const late = new AbortController();
  const grace = (running.pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
  const kill = systemClock.sleep(grace, late.signal).then(
    () => running.child.kill('SIGKILL'),
    () => undefined,
  );
  await exited;
  late.abort(new Error('it has ended'));
  await kill;
}
