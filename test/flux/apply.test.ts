import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { buildGoProgram, GO_BUILD_TIMEOUT, HAS_GO, type GoProgram } from '../support/go-program.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';

interface Answer {
  changes: Record<string, string>;
  error?: string;
  tookMs: number;
}

const OWN = /^(Connection|Box|PolicyBox|Instance|InstanceLease)\//;

// gitops checklist G23 to G28, with the packages of Flux in the place of its controllers.
describe.skipIf(!HAS_GO)('Flux, by its own package for server-side apply', () => {
  let flux: GoProgram;

  beforeAll(async () => {
    await installKinds(testCluster());
    flux = await buildGoProgram(join(import.meta.dirname, 'ssa'));
  }, GO_BUILD_TIMEOUT);
  afterAll(() => flux?.[Symbol.dispose]());

  function ask(world: RealWorld, what: string, manifests: string, timeoutMs = 60_000): Promise<Answer> {
    const objects = parseAllDocuments(manifests).flatMap((document) => {
      const object = document.toJS() as object | null;
      return object === null ? [] : [object];
    });
    const question = { do: what, namespace: world.namespace, objects, timeoutMs };
    return flux.ask<Answer>(question, {
      env: { KUBECONFIG: world.cluster.kubeconfigPath },
      timeoutMs: timeoutMs + 60_000,
    });
  }

  it('applies the examples, waits until they are up, finds no drift afterwards, and prunes them to the end', async () => {
    await using world = await RealWorld.start();
    const manifests = `${world.connection()}\n---\n${exampleText()}`;
    const applied = await ask(world, 'apply', manifests);
    expect(applied.error).toBeUndefined();
    expect(new Set(Object.values(applied.changes))).toEqual(new Set(['created']));

    const waited = await ask(world, 'wait', manifests);
    expect(waited.error).toBeUndefined();
    const { status } = await world.ready('Instance', 'web-eu');
    expect(status).toMatchObject({ phase: 'Online' });
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);

    const again = await ask(world, 'apply', manifests);
    expect(again.error).toBeUndefined();
    expect(new Set(Object.values(again.changes))).toEqual(new Set(['unchanged']));

    const pruned = await ask(world, 'prune', manifests);
    expect(pruned.error).toBeUndefined();
    expect(Object.keys(pruned.changes).filter((subject) => OWN.test(subject)).length).toBeGreaterThanOrEqual(
      6,
    );
    expect(world.sandbox.admin.records('instances')).toEqual([]);
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
  }, 240_000);

  it('hears of a declaration that the service refuses at once, not when its time is over', async () => {
    await using world = await RealWorld.start();
    await world.put(world.connection());
    await world.ready('Connection', 'main');
    world.sandbox.admin.addFault({ match: { method: 'POST' }, status: 400, message: 'not like this' });
    const box = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: plain}
spec: {connectionRef: {name: main}, requirements: [Linux]}
`;
    await ask(world, 'apply', box);
    const waited = await ask(world, 'wait', box, 120_000);
    expect(waited.error).toMatch(/Box\/.*plain.*Failed/);
    expect(waited.tookMs).toBeLessThan(30_000);
  });

  it('sits out an outage of the service, and prunes without a trace on the service what is to stay there', async () => {
    await using world = await RealWorld.start();
    await world.put(world.connection());
    await world.ready('Connection', 'main');
    const box = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: kept}
spec: {connectionRef: {name: main}, requirements: [Linux], deletionPolicy: Orphan}
`;
    world.sandbox.admin.addFault({ match: {}, status: 503 });
    await ask(world, 'apply', box);
    const waiting = ask(world, 'wait', box);
    await eventually('the outage is seen', async () =>
      ['ServiceUnavailable', 'WaitingForConnection'].includes(
        (await world.get('Box', 'kept'))?.status?.conditions?.[0]?.reason ?? '',
      ),
    );
    world.sandbox.admin.removeFault();
    expect((await waiting).error).toBeUndefined();
    expect((await ask(world, 'prune', box)).error).toBeUndefined();
    expect(world.sandbox.admin.records('boxes')).toMatchObject([{ name: 'kept' }]);
  });
});
