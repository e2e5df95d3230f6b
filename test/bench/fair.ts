/**
 * Measures how long a person's edit waits while many instances are being made, one instance is changed back by the
 * service again and again, and one namespace is deleted: from the API server's answer to the edit until its PUT
 * arrives at the service. Instances are settled first; then the creations begin, the edits start when the first of
 * them are applied, one by one, and the measure ends after the last edit, while creations go on.
 * Usage: node test/bench/fair.ts [--instances 5000] [--edits 50] [--pace 10/20/16] [--latency 200] [--deploy 5000]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { startControlPlane, streamProgress } from '../../src/devcluster/index.ts';
import { bundle } from '../../scripts/bundle.ts';
import { metricsUrlOf, startOperatorProgram, startSandboxProgram } from '../support/programs.ts';
import { typeOfKind } from '../support/world.ts';
import { applyKinds, Bench, NAMESPACES } from './bench.ts';
import { percentile } from './rows.ts';

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '5000' },
    edits: { type: 'string', default: '50' },
    pace: { type: 'string', default: '10/20/16' },
    latency: { type: 'string', default: '200' },
    deploy: { type: 'string', default: '5000' },
  },
});
/** Instances that are in place before it begins: the last is the one that the service changes back. */
const SETTLED = 11;
/** Instances of the namespace that is deleted. */
const GOING = 20;
/** A person edits so often, milliseconds. */
const EVERY_MS = 1_500;
const POLL_MS = 5_000;

interface Call {
  at: number;
  path: string;
}

const ms = (list: readonly number[], share: number): string => percentile(list, share).toFixed(0);
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const [perSecond, burst, inFlight] = values.pace.split('/').map(Number);
const pace = `{requestsPerSecond: ${perSecond}, burst: ${burst}, inFlight: ${inFlight}}`;
const folder = mkdtempSync(join(tmpdir(), 'boxwright-fair-'));
const main = await bundle(join(folder, 'bundle'));
const cluster = await startControlPlane({
  env: process.env,
  clock: systemClock,
  progress: streamProgress(process.stderr, systemClock),
});
const running: { stop(): Promise<void> }[] = [cluster];
try {
  const sandbox = await startSandboxProgram(
    [`--latency=${values.latency}`, `--duration=deploy=${values.deploy}`],
    { main },
  );
  running.push(sandbox);
  const kubeconfigFile = join(folder, 'operator.kubeconfig');
  writeFileSync(kubeconfigFile, cluster.kubeconfigFor('bench-operator', ['system:masters']), { mode: 0o600 });
  const bench = await Bench.open(cluster.kubeconfigPath);
  const going = await Bench.open(cluster.kubeconfigPath, 'going');
  running.push(going, bench);
  await applyKinds(bench);
  await bench.client.create(NAMESPACES, { metadata: { name: 'going' } });
  const poll = `{processing: ${POLL_MS}ms}`;
  await bench.prepare(sandbox, poll, pace);
  // Of an account of its own: names of boxes are unique in a workspace.
  const token = 'token-of-the-namespace-that-goes';
  await sandbox.admin('POST', '/accounts', {
    email: 'going@example.com',
    password: 'secret-password',
    token,
  });
  await going.prepare({ url: sandbox.url, token }, poll, pace);
  const operator = startOperatorProgram({
    kubeconfigFile,
    home: 'default',
    namespaces: ['default', 'going'],
    main,
  });
  running.push(operator);
  const metricsUrl = await metricsUrlOf(operator);
  await bench.referencesReady();
  await going.referencesReady();
  await bench.applyInstances(SETTLED);
  await going.applyInstances(GOING);
  await bench.allReady(SETTLED, () => undefined);
  await going.allReady(GOING, () => undefined);

  const contested = bench.idOf(`bench-${SETTLED - 1}`);
  const edit = (name: string, tag: string): Promise<unknown> =>
    bench.client.mergePatch(
      typeOfKind('Instance'),
      { namespace: 'default', name },
      { spec: { tags: [tag] } },
    );
  await edit(`bench-${SETTLED - 1}`, 'ours');
  const state = { over: false };
  const readyAt = new Map<string, number>();
  const contest = (async () => {
    while (!state.over) {
      await sandbox
        .admin('PUT', '/records/instances', { id: contested, change: { tags: ['theirs'] } })
        .catch(() => undefined);
      await systemClock.sleep(500);
    }
  })();
  const watch = (async () => {
    while (!state.over) {
      for (const name of bench.readyNames()) if (!readyAt.has(name)) readyAt.set(name, systemClock.now());
      await systemClock.sleep(250);
    }
  })();
  const settledNames = new Set(bench.readyNames());

  say(`making ${values.instances} instances ...`);
  // It ends when the bench stops, in the middle of the creations.
  bench.applyInstances(Number(values.instances), SETTLED).catch(() => undefined);
  await going.client.delete(NAMESPACES, { name: 'going' });
  while (bench.appliedAt.size < Math.min(SETTLED + 300, Number(values.instances)))
    await systemClock.sleep(100);
  const edits: { id: string; at: number }[] = [];
  for (let i = 0; i < Number(values.edits); i++) {
    const name = `bench-${i % (SETTLED - 1)}`;
    await edit(name, `edit-${i}`);
    edits.push({ id: bench.idOf(name), at: systemClock.now() });
    await systemClock.sleep(EVERY_MS);
  }
  await systemClock.sleep(EVERY_MS * 2);
  const appliedByNow = bench.appliedAt.size;
  state.over = true;
  await Promise.all([contest, watch]);

  const puts = await sandbox.admin<Call[]>('GET', '/calls?method=PUT');
  const delays = edits.map(({ id, at }) => {
    // A PUT may arrive a moment before the answer to the edit is read here.
    const put = puts.find((call) => call.at >= at - 50 && call.path.includes(id));
    return put === undefined ? Infinity : Math.max(0, put.at - at);
  });
  const records = await sandbox.admin<{ name: string; updated: string }[]>('GET', '/records/instances');
  const ends = new Map(
    records.map(({ name, updated }) => [name, Date.parse(`${updated.replace(' ', 'T')}Z`)]),
  );
  const late = [...readyAt]
    .filter(([name]) => !settledNames.has(name))
    .map(([name, at]) => at - (ends.get(name) ?? Number.NaN));
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  const failed = metrics
    .split('\n')
    .filter((line) => line.startsWith('controller_runtime_reconcile_errors_total{'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  process.stdout.write(
    [
      `pace ${values.pace}, ${appliedByNow} instances applied, ${records.length} records, ${readyAt.size} Ready at the end`,
      `edit to PUT, p50 / p95 / max    ${ms(delays, 0.5)} / ${ms(delays, 0.95)} / ${ms(delays, 1)} ms`,
      `edits without a PUT             ${delays.filter((delay) => delay === Infinity).length} of ${delays.length}`,
      `end of deploy to Ready, polls   p50 ${(percentile(late, 0.5) / POLL_MS).toFixed(2)}, max ${(percentile(late, 1) / POLL_MS).toFixed(2)} (${late.length} seen)`,
      `failed passes                   ${failed}`,
      '',
    ].join('\n'),
  );
} finally {
  for (const each of running.toReversed()) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}
