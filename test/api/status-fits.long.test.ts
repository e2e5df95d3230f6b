import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { systemClock } from '../../src/base/clock.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { loadKubeConfig, UndiciKubePort } from '../../src/kube/index.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { FakeKube, ownKinds } from '../support/fake-kube.ts';
import { wildCase } from '../support/wild.ts';
import { WildBench } from '../support/wild-bench.ts';
import { installKinds } from './install.ts';

/** 21,000 in all. */
const IN_PROCESS = 4_200;
/** 2,000 in all. */
const REAL = 400;

const kinds = ownKinds();

describe.each(KINDS)('$kind', (definition) => {
  let namespace: TestNamespace;
  let port: UndiciKubePort;

  beforeAll(async () => {
    const cluster = testCluster();
    await installKinds(cluster);
    namespace = await cluster.namespace('wild');
    const { source } = await loadKubeConfig({ file: cluster.kubeconfigPath });
    port = new UndiciKubePort({ source, clock: systemClock });
    return async () => {
      await port.close();
      await namespace.cleanup();
    };
  });

  test('takes any status, by the schema and the rules of its CRD', async () => {
    await fc.assert(
      fc.asyncProperty(wildCase(definition), async (wild) => {
        const clock = new VirtualClock();
        const kube = new FakeKube({ clock, kinds, namespaces: ['shop'] });
        const bench = await WildBench.make(wild, kube, clock, 'shop');
        expect(await bench.judge()).toEqual([]);
      }),
      { numRuns: IN_PROCESS },
    );
  });

  test('takes any status, by the real API server', async () => {
    await fc.assert(
      fc.asyncProperty(wildCase(definition), async (wild) => {
        const bench = await WildBench.make(wild, port, systemClock, namespace.name);
        try {
          expect(await bench.judge()).toEqual([]);
        } finally {
          const path = `${definition.collectionPath(namespace.name)}/sample`;
          expect(await port.request({ method: 'DELETE', path })).toMatchObject({ status: 200 });
        }
      }),
      { numRuns: REAL },
    );
  });
});
