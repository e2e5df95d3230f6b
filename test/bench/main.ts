/**
 * Measures the creation of many instances: control plane, embedded service and operator in processes of their
 * own, both of ours from the bundle, as people run them. Usage: node test/bench/main.ts [--instances 1000]
 * [--latency 200] [--deploy 5000] [--output json] [--cpu-prof <folder>] [--leader-elect false]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { isWrite, readAuditLog, startControlPlane, streamProgress } from '../../src/devcluster/index.ts';
import { bundle } from '../../scripts/bundle.ts';
import { applyKinds, Bench } from './bench.ts';
import { percentile, tableOf, type Measured } from './rows.ts';
import { metricOf, metricsUrlOf, startOperatorProgram, startSandboxProgram } from '../support/programs.ts';

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '1000' },
    latency: { type: 'string', default: '200' },
    deploy: { type: 'string', default: '5000' },
    output: { type: 'string', default: 'table' },
    'cpu-prof': { type: 'string' },
    'leader-elect': { type: 'string', default: 'true' },
  },
});
const count = Number(values.instances);
const latency = Number(values.latency);
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const OPERATOR = 'bench-operator';

const folder = mkdtempSync(join(tmpdir(), 'boxwright-bench-'));
const main = await bundle(join(folder, 'bundle'));
const cluster = await startControlPlane({
  env: process.env,
  clock: systemClock,
  progress: streamProgress(process.stderr, systemClock),
});
const running: { stop(): Promise<void> }[] = [cluster];
try {
  const sandbox = await startSandboxProgram([`--latency=${latency}`, `--duration=deploy=${values.deploy}`], {
    main,
  });
  running.push(sandbox);
  const kubeconfigFile = join(folder, 'operator.kubeconfig');
  writeFileSync(kubeconfigFile, cluster.kubeconfigFor(OPERATOR, ['system:masters']), { mode: 0o600 });
  const bench = await Bench.open(cluster.kubeconfigPath);
  running.push(bench);
  await applyKinds(bench);
  await bench.prepare(sandbox);
  const profile = values['cpu-prof'];
  const operator = startOperatorProgram({
    kubeconfigFile,
    home: 'default',
    namespaces: [bench.namespace],
    flags: [`--leader-elect=${values['leader-elect']}`],
    main,
    nodeArgs: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  });
  running.push(operator);
  const ended = operator.ended.then(() => {
    throw new Error(`the operator has ended:\n${operator.said()}`);
  });
  ended.catch(() => undefined);
  const metricsUrl = await metricsUrlOf(operator);
  await bench.referencesReady();

  const written = (): number =>
    readAuditLog(cluster.auditLogPath).filter(
      (event) =>
        event.user.username === OPERATOR &&
        isWrite(event) &&
        event.objectRef?.resource !== 'events' &&
        event.objectRef?.resource !== 'leases',
    ).length;
  const called = async (): Promise<number> =>
    (await sandbox.admin<readonly unknown[]>('GET', '/calls')).length;

  say(`applying ${count} instances ...`);
  const before = { writes: written(), calls: await called() };
  const start = systemClock.now();
  await bench.applyInstances(count);
  await Promise.race([bench.allReady(count, (ready) => say(`  ${ready} Ready`)), ended]);
  const end = systemClock.now();

  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  const records = await sandbox.admin<{ name: string; created: string }[]>('GET', '/records/instances');
  const arrived = new Map(
    // The effect comes after the latency.
    records.map(({ name, created }) => [name, Date.parse(`${created.replace(' ', 'T')}Z`) - latency]),
  );
  const delays = [...bench.appliedAt].map(([name, at]) => (arrived.get(name) ?? Number.NaN) - at);
  const measured: Measured = {
    instances: records.length,
    seconds: (end - start) / 1_000,
    creationsPerSecond: records.length / ((Math.max(...arrived.values()) - start) / 1_000),
    serviceCalls: ((await called()) - before.calls) / count,
    kubernetesWrites: (written() - before.writes) / count,
    applyToPostMs: {
      p50: percentile(delays, 0.5),
      p95: percentile(delays, 0.95),
      p99: percentile(delays, 0.99),
    },
    rssMiB: (metricOf(metrics, 'process_resident_memory_bytes') ?? Number.NaN) / 1_048_576,
    cpuSeconds: metricOf(metrics, 'process_cpu_seconds_total') ?? Number.NaN,
  };
  process.stdout.write(
    values.output === 'json' ? `${JSON.stringify(measured, null, 2)}\n` : `\n${tableOf(measured)}\n`,
  );
  if (records.length !== count) throw new Error(`${records.length} records for ${count} instances`);
} finally {
  for (const each of running.toReversed()) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}
