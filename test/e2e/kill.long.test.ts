import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { eventually } from '../support/eventually.ts';
import { Fleet } from './fleet.ts';

const INSTANCES = Number(process.env['BOXWRIGHT_LONG_INSTANCES'] ?? 300);
const KILLS = Number(process.env['BOXWRIGHT_LONG_KILLS'] ?? 50);
/** Longest life of an operator process before it is killed, milliseconds. */
const LONGEST_LIFE = 8_000;

it(`${INSTANCES} instances come out as ${INSTANCES} records though the operator is killed ${KILLS} times`, async () => {
  await using fleet = await Fleet.start({
    sandboxFlags: ['--latency=200', '--duration=deploy=5000'],
    // A successor waits for the lease of the one that was killed.
    operatorFlags: [
      '--leader-lease-duration=4s',
      '--leader-renew-deadline=3s',
      '--leader-retry-period=500ms',
    ],
    poll: '{processing: 1s, settled: 30s, lagWindow: 1s}',
  });
  let kills = 0;
  const applying = (async () => {
    // Spread over the kills, so that each of them meets instances at every stage.
    for (let made = 0; made < INSTANCES; made += 10) {
      await fleet.person.applyInstances(Math.min(10, INSTANCES - made), made);
      await eventually('some more kills', () => kills >= (made / INSTANCES) * KILLS || kills >= KILLS, {
        timeoutMs: 3_000_000,
      });
    }
  })();
  while (kills < KILLS) {
    await systemClock.sleep(500 + Math.random() * LONGEST_LIFE);
    await fleet.killOperator();
    kills++;
    await fleet.startOperator();
  }
  await applying;
  await fleet.person.allReady(INSTANCES, (ready) => process.stderr.write(`  ${ready} Ready\n`));

  const records = await fleet.records();
  const calls = await fleet.calls();
  const posts = calls.filter(({ method, route }) => method === 'POST' && route === '/services/instances');
  process.stderr.write(
    `${kills} kills (it ended by itself ${fleet.endedByItself} times more): ${fleet.person.ready()} Ready, ${records.length} records, ` +
      `${posts.length} POSTs, ${fleet.kubernetesWrites().length} Kubernetes writes\n`,
  );
  expect(records).toHaveLength(INSTANCES);
  expect(new Set(records.map(({ name }) => name)).size).toBe(INSTANCES);
  expect(calls.filter(({ method }) => method === 'DELETE')).toEqual([]);
});
