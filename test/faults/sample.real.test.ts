import { beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import type { Mishap } from './faults.ts';
import { runReal } from './real.ts';
import { differences } from './run.ts';
import { WORKLOADS } from './workloads.ts';

const INTENT = 'kube PATCH instances/web-eu [+create-intent finalizers=1]';
const CLAIM = 'kube PATCH instances/web-eu [+external-id +claim +claim-seal +deployed-lease -create-intent]';
const DEPLOY = 'service POST /services/instances';
const TERMINATE = 'service DELETE /services/instances/{id}?operation=terminate';
const DELETE = 'service DELETE /services/instances/{id}?operation=delete';
const RELEASE = 'kube PATCH instances/web-eu [finalizers=0]';
const BOX_GONE = 'service DELETE /services/boxes/{id}';

/** What happens to which effect: at least one mishap for each protocol, all four for the deploy. */
const SAMPLE: readonly (readonly [string, readonly Mishap[]])[] = [
  [INTENT, ['crash after', 'conflict']],
  [DEPLOY, ['crash before', 'crash after', 'answer lost', 'conflict']],
  [CLAIM, ['crash before', 'answer lost', 'conflict']],
  [TERMINATE, ['crash after', 'answer lost']],
  [DELETE, ['crash before', 'crash after', 'answer lost']],
  [RELEASE, ['crash before']],
  [BOX_GONE, ['crash after']],
];
/** So many namespaces are at work at one time: most of a run is waiting. */
const AT_ONCE = 5;

describe('Faults on the real API server and the service over HTTP, lists trailing by a second', () => {
  beforeAll(() => installKinds(testCluster()));

  it('end as if nothing had happened', { timeout: 900_000 }, async () => {
    const workload = WORKLOADS.find(({ name }) => name === 'instance');
    if (workload === undefined) throw new Error('there is no workload of that name');
    const undisturbed = await runReal(workload);
    expect(undisturbed.failures).toEqual([]);
    const plans = SAMPLE.flatMap(([label, mishaps]) => mishaps.map((mishap) => ({ label, mishap, nth: 0 })));
    const open = [...plans];
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      for (let plan = open.shift(); plan !== undefined; plan = open.shift()) {
        const run = await runReal(workload, plan);
        const said = run.hit
          ? differences(workload, undisturbed, run)
          : ['the planned effect did not come up'];
        if (said.length > 0) failures.push(`${plan.mishap}, ${plan.label}: ${said.join('\n')}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const effects = undisturbed.effects.length - undisturbed.from;
    process.stdout.write(
      `\nOn real parts: ${effects} effects, ${plans.length} plans, ${failures.length} failures\n`,
    );
    expect(failures).toEqual([]);
  });
});
