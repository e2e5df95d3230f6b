import { systemClock } from '../../src/base/clock.ts';
import { silentProgress, startControlPlane } from '../../src/devcluster/index.ts';
import { testCluster, type TestCluster } from './cluster.ts';
import { provided } from './control-plane.ts';
import { keepAuditLog } from './rights/registry.ts';

/** A control plane of a test file's own, for what changes the cluster as a whole. */
export interface OwnCluster extends AsyncDisposable {
  readonly cluster: TestCluster;
}

export async function ownCluster(): Promise<OwnCluster> {
  const running = await startControlPlane({
    env: process.env,
    clock: systemClock,
    progress: silentProgress,
  });
  return {
    cluster: testCluster(provided(running)),
    async [Symbol.asyncDispose]() {
      keepAuditLog(running.auditLogPath);
      await running.stop();
    },
  };
}
