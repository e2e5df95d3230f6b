import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../../scripts/markdown.ts';
import { bundle } from '../../../scripts/bundle.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startControlPlane, streamProgress } from '../../../src/devcluster/index.ts';
import { eventually } from '../../support/eventually.ts';
import {
  metricOf,
  metricsUrlOf,
  startOperatorProgram,
  startSandboxProgram,
  type Program,
} from '../../support/programs.ts';
import { applyKinds, Bench } from '../bench.ts';
import { cpuSecondsOf } from '../cpu.ts';
import { imageSettings } from '../../support/image-settings.ts';
import { peakMiB, residentMiB } from './process-memory.ts';

/** What is measured, and how. */
export interface MemoryOptions {
  /** Instances there are at each step; the first is made at leisure. */
  steps: readonly number[];
  latencyMs: number;
  deployMs: number;
  /** How long a rest is. */
  restMs: number;
  /** Node as it is, instead of as the image runs it. */
  bare: boolean;
  /** Further arguments of Node. */
  nodeArgs: readonly string[];
  say: (text: string) => void;
}

/** Memory of the operator at one step. */
export interface MemoryStep {
  instances: number;
  /** The most while they were made, MiB. */
  peakMiB: number;
  /** After a rest, MiB. */
  restMiB: number;
  /** The heap then, MiB. */
  heapMiB: number;
  /** Of a process that was started anew and has looked at each of them, after a rest, MiB. */
  settledMiB: number;
  seconds: number;
  /** CPU time that the operator took to make one, milliseconds. */
  cpuMs: number;
}

/** The chart’s limit for a heap of three quarters of 512 MiB. */
const HEAP_LIMIT = '--max-old-space-size=384';

/** Makes instances step by step, and looks at what the operator holds. */
export async function measureMemory(options: MemoryOptions): Promise<MemoryStep[]> {
  const { steps, latencyMs, deployMs, restMs, bare, say } = options;
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-memory-'));
  const main = await bundle(join(folder, 'bundle'));
  const progress = streamProgress(process.stderr, systemClock);
  // Nobody counts calls here, and the log of a hundred thousand would cost more than they do.
  const cluster = await startControlPlane({
    env: process.env,
    clock: systemClock,
    progress,
    auditLog: false,
  });
  const running: { stop(): Promise<void> }[] = [cluster];
  try {
    const sandbox = await startSandboxProgram([`--latency=${latencyMs}`, `--duration=deploy=${deployMs}`], {
      main,
    });
    running.push(sandbox);
    const kubeconfigFile = join(folder, 'operator.kubeconfig');
    writeFileSync(kubeconfigFile, cluster.kubeconfigFor('operator', ['system:masters']), { mode: 0o600 });
    const bench = await Bench.open(cluster.kubeconfigPath);
    running.push(bench);
    await applyKinds(bench);
    await bench.prepare(sandbox);
    const image = bare ? { nodeArgs: [], env: {} } : imageSettings();
    const start = (): Program =>
      startOperatorProgram({
        kubeconfigFile,
        home: 'default',
        namespaces: [bench.namespace],
        flags: ['--leader-elect=false'],
        main,
        nodeArgs: [HEAP_LIMIT, ...image.nodeArgs, ...options.nodeArgs],
        env: image.env,
      });
    let operator = start();
    running.push({ stop: () => operator.stop() });
    await metricsUrlOf(operator);
    await bench.referencesReady();
    const results: MemoryStep[] = [];
    let made = 0;
    for (const instances of steps) {
      say(`${instances} instances ...`);
      const startedAt = systemClock.monotonic();
      const cpuBefore = cpuSecondsOf(operator.pid);
      await bench.applyInstances(instances - made, made);
      await bench.allReady(instances, (ready) =>
        say(`  ${ready} Ready, ${Math.round(residentMiB(operator.pid))} MiB`),
      );
      const cpuMs = ((cpuSecondsOf(operator.pid) - cpuBefore) * 1_000) / (instances - made);
      made = instances;
      const seconds = (systemClock.monotonic() - startedAt) / 1_000;
      const peak = peakMiB(operator.pid);
      await systemClock.sleep(restMs);
      const restMiB = residentMiB(operator.pid);
      const heapMiB = (await heapOf(operator)) / 1_048_576;
      await operator.stop();
      operator = start();
      await allLookedAt(operator, instances);
      await systemClock.sleep(restMs);
      const settledMiB = residentMiB(operator.pid);
      results.push({ instances, peakMiB: peak, restMiB, heapMiB, settledMiB, seconds, cpuMs });
      say(`  peak ${Math.round(peak)}, rest ${Math.round(restMiB)}, settled ${Math.round(settledMiB)} MiB`);
    }
    return results;
  } finally {
    for (const each of running.toReversed()) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function heapOf(operator: Program): Promise<number> {
  const metrics = await metricsOf(operator);
  return metricOf(metrics, 'nodejs_heap_size_used_bytes') ?? Number.NaN;
}

async function metricsOf(operator: Program): Promise<string> {
  return (await fetch(`${await metricsUrlOf(operator)}/metrics`)).text();
}

/** Waits until a process has passed over each instance once. */
async function allLookedAt(operator: Program, instances: number): Promise<void> {
  await eventually(
    'each instance was looked at',
    async () => passesIn(await metricsOf(operator)) >= instances,
    { timeoutMs: 900_000, everyMs: 1_000 },
  );
}

/** Passes over instances that have ended. */
function passesIn(metrics: string): number {
  const lines = metrics
    .split('\n')
    .filter((line) => /^controller_runtime_reconcile_total\{.*controller="instance"/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** For people. */
export function tableOfMemory(steps: readonly MemoryStep[]): string {
  return table(
    [
      'instances',
      'peak while they are made',
      'after a rest',
      'heap then',
      'started anew, after a rest',
      'took',
      'CPU for each',
    ],
    steps.map((step) => [
      String(step.instances),
      mib(step.peakMiB),
      mib(step.restMiB),
      mib(step.heapMiB),
      mib(step.settledMiB),
      `${step.seconds.toFixed(0)} s`,
      `${step.cpuMs.toFixed(1)} ms`,
    ]),
  );
}

function mib(value: number): string {
  return `${Math.round(value)} MiB`;
}
