/**
 * Runs the operator, at the chart's memory limit, against hostile services and hostile manifests: a real control plane,
 * and the real program from its bundle. Says for each shape whether it went on working, and what it took. Ends with 1
 * where it was restarted, lost its leadership, or would have been killed for its memory.
 * Usage: node test/alive/main.ts [--only objects,chain-2500] [--delay 200] [--seconds <at most, a shape>] [--cpu-prof <folder>]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from '../../scripts/bundle.ts';
import { systemClock } from '../../src/base/clock.ts';
import { startControlPlane, streamProgress } from '../../src/devcluster/index.ts';
import { applyKinds, Bench } from '../bench/bench.ts';
import { eventually } from '../support/eventually.ts';
import { typeOfKind } from '../support/world.ts';
import { headOf, isAlive, rowOf } from './rows.ts';
import { ANSWER_SHAPES } from './answer-shapes.ts';
import { AUTHOR_SHAPES } from './author-shapes.ts';
import { SHAPES } from './shapes.ts';
import { AliveWorld, chartLimits } from './world.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    delay: { type: 'string', default: '200' },
    seconds: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
});
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const profile = values['cpu-prof'];
const only = values.only?.split(',');
const all = [...SHAPES, ...ANSWER_SHAPES, ...AUTHOR_SHAPES];
const shapes = all.filter(({ name }) => only === undefined || only.includes(name));
const limits = chartLimits();
const folder = mkdtempSync(join(tmpdir(), 'boxwright-alive-'));
const main = await bundle(join(folder, 'bundle'));
const cluster = await startControlPlane({
  env: process.env,
  clock: systemClock,
  progress: streamProgress(process.stderr, systemClock),
});
try {
  const kubeconfigFile = join(folder, 'operator.kubeconfig');
  writeFileSync(kubeconfigFile, cluster.kubeconfigFor('alive-operator', ['system:masters']), { mode: 0o600 });
  const bench = await Bench.open(cluster.kubeconfigPath);
  await applyKinds(bench);
  await eventually('the kinds are served', async () => {
    await bench.client.list(typeOfKind('Instance'), { namespace: 'default' });
    return true;
  });
  await bench.stop();
  process.stdout.write(`${headOf(limits)}\n`);
  for (const shape of shapes) {
    say(`${shape.name}: ${shape.what} …`);
    await using world = await AliveWorld.open({
      name: shape.name,
      kubeconfigPath: cluster.kubeconfigPath,
      kubeconfigFile,
      main,
      heap: limits.heap,
      ...(profile === undefined
        ? {}
        : {
            nodeArgs: ['--cpu-prof', `--cpu-prof-name=${shape.name}.cpuprofile`, `--cpu-prof-dir=${profile}`],
            keepHeld: join(profile, `${shape.name}.held.json`),
          }),
      say,
    });
    await shape.prepare(world);
    const seen = await world.run(
      Math.min(shape.seconds, Number(values.seconds ?? Infinity)),
      () => shape.meanwhile?.(world) ?? Promise.resolve(),
    );
    process.stdout.write(`${rowOf(shape, seen)}\n`);
    if (!isAlive(seen, { memory: limits.memory, delay: Number(values.delay) })) process.exitCode = 1;
  }
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
