/**
 * Measures the creation of many instances: control plane, embedded service and operator in processes of their
 * own, both of ours from the bundle, as people run them. Usage: node test/bench/main.ts [--instances 1000]
 * [--latency 200] [--deploy 5000] [--output json] [--cpu-prof <folder>] [--leader-elect false]
 *
 * With --kinds: what a write to each kind costs the API server, beside a kind of one field: [--objects 100]
 * [--rounds 7] [--only Instance,Box].
 *
 * With --memory: what the operator holds, with Node as the image runs it (--bare: as it is): [--steps 100,5000,10000]
 * [--rest 30] [--node-args <arguments>] [--latency 200] [--deploy 5000].
 *
 * With --counts: calls and writes of creations, of hours of rest, of a restart and of deletions, on the virtual clock:
 * [--instances 1000] [--latency 200] [--deploy 5000] [--pace 1000/2000/128].
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { isWrite, readAuditLog, startControlPlane, streamProgress } from '../../src/devcluster/index.ts';
import { bundle } from '../../scripts/bundle.ts';
import { applyKinds, Bench } from './bench.ts';
import { count as countEffects, tableOfCounts } from './counts/run.ts';
import { measureKinds, tableOfKinds } from './kinds/run.ts';
import { measureMemory, tableOfMemory } from './memory/run.ts';
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
    kinds: { type: 'boolean', default: false },
    objects: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    only: { type: 'string' },
    counts: { type: 'boolean', default: false },
    pace: { type: 'string' },
    memory: { type: 'boolean', default: false },
    steps: { type: 'string', default: '100,5000,10000' },
    rest: { type: 'string', default: '30' },
    bare: { type: 'boolean', default: false },
    'node-args': { type: 'string', default: '' },
  },
});
const count = Number(values.instances);
const latency = Number(values.latency);
const say = (text: string): void => void process.stderr.write(`${text}\n`);

if (values.kinds) {
  const costs = await measureKinds({
    objects: Number(values.objects),
    rounds: Number(values.rounds),
    say,
    ...(values.only === undefined ? {} : { only: values.only.split(',') }),
  });
  process.stdout.write(
    values.output === 'json' ? `${JSON.stringify(costs, null, 2)}\n` : `\n${tableOfKinds(costs)}\n`,
  );
  process.exit(0);
}

if (values.memory) {
  const measured = await measureMemory({
    steps: values.steps.split(',').map(Number),
    latencyMs: latency,
    deployMs: Number(values.deploy),
    restMs: Number(values.rest) * 1_000,
    bare: values.bare,
    nodeArgs: values['node-args'].split(' ').filter((word) => word !== ''),
    say,
  });
  process.stdout.write(
    values.output === 'json' ? `${JSON.stringify(measured, null, 2)}\n` : `\n${tableOfMemory(measured)}\n`,
  );
  process.exit(0);
}

if (values.counts) {
  const [requestsPerSecond, burst, inFlight] = (values.pace ?? '1000/2000/128').split('/').map(Number);
  const options = {
    instances: count,
    latencyMs: latency,
    deployMs: Number(values.deploy),
    pace: JSON.stringify({ requestsPerSecond, burst, inFlight }),
  };
  const counts = await countEffects(options);
  process.stdout.write(`${tableOfCounts(counts, options)}\n`);
  process.exit(0);
}

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
