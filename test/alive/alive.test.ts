import { expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { ANSWER_SHAPES } from './answer-shapes.ts';
import { SHAPES } from './shapes.ts';
import { AliveWorld, chartLimits } from './world.ts';

/** A sample: `npm run bench:alive` has all shapes, and tells how long the event loop was held. */
it.each(['objects', 'records', 'tags'])(
  'the operator goes on at the memory limit of the chart while a service answers with %s',
  async (name) => {
    const shape = [...SHAPES, ...ANSWER_SHAPES].find((one) => one.name === name);
    if (shape === undefined) throw new Error(`no such shape: ${name}`);
    const cluster = testCluster();
    await installKinds(cluster);
    const { memory, heap } = chartLimits();
    await using world = await AliveWorld.open({
      name: `${name}-sample`,
      kubeconfigPath: cluster.kubeconfigPath,
      kubeconfigFile: cluster.kubeconfigFor(`alive-${name}`, ['system:masters']),
      heap,
    });
    await shape.prepare(world);
    const seen = await world.run(12);
    expect(seen).toMatchObject({ restarts: 0, leadershipLost: false });
    expect(seen.peakRss).toBeLessThan(memory);
    expect(seen.peakRss).toBeGreaterThan(0);
    expect(seen.edits).toBeGreaterThan(0);
  },
);
