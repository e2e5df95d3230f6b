import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { eventually } from '../support/eventually.ts';
import { metricOf, metricsUrlOf } from '../support/programs.ts';
import { Fleet } from './fleet.ts';

const INSTANCES = Number(process.env['BOXWRIGHT_LONG_INSTANCES'] ?? 300);
const LOOKS = Number(process.env['BOXWRIGHT_LONG_LOOKS'] ?? 100);

it(`${INSTANCES} settled instances are looked at ${LOOKS} times without a write, and once more after a restart`, async () => {
  await using fleet = await Fleet.start({
    sandboxFlags: ['--duration=deploy=1000'],
    operatorFlags: [],
    poll: '{processing: 1s, settled: 5s, lagWindow: 1s}',
  });
  await fleet.person.applyInstances(INSTANCES);
  await fleet.person.allReady(INSTANCES, (ready) => process.stderr.write(`  ${ready} Ready\n`));
  await systemClock.sleep(15_000);

  const passes = async (): Promise<number> => {
    const url = await metricsUrlOf(fleet.operator);
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith('controller_runtime_reconcile_total{controller="instance"'));
    return lines.reduce((sum, line) => sum + (metricOf(line, line.slice(0, line.lastIndexOf(' '))) ?? 0), 0);
  };
  const serviceWrites = async (): Promise<number> =>
    (await fleet.calls()).filter(({ method }) => method !== 'GET').length;
  const before = {
    kubernetes: fleet.kubernetesWrites().length,
    service: await serviceWrites(),
    passes: await passes(),
  };
  let looks = 0;
  await eventually(
    `${LOOKS} looks at each`,
    async () => (looks = ((await passes()) - before.passes) / INSTANCES) >= LOOKS,
    { timeoutMs: 3_000_000, everyMs: 5_000 },
  );
  const settled = {
    kubernetes: fleet.kubernetesWrites().slice(before.kubernetes),
    service: (await serviceWrites()) - before.service,
  };
  process.stderr.write(
    `${looks.toFixed(0)} looks at each of ${INSTANCES}: ${settled.kubernetes.length} Kubernetes writes, ` +
      `${settled.service} service writes\n`,
  );
  expect(settled).toEqual({ kubernetes: [], service: 0 });

  await fleet.stopOperator();
  await fleet.startOperator();
  await eventually('each was looked at after the restart', async () => (await passes()) >= 2 * INSTANCES, {
    timeoutMs: 120_000,
    everyMs: 1_000,
  });
  const restarted = {
    kubernetes: fleet.kubernetesWrites().slice(before.kubernetes),
    service: (await serviceWrites()) - before.service,
  };
  process.stderr.write(
    `after a restart: ${restarted.kubernetes.length} Kubernetes writes, ${restarted.service} service writes\n`,
  );
  expect(restarted).toEqual({ kubernetes: [], service: 0 });
});
