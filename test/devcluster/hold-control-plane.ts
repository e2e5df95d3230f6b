/** Starts a control plane, prints what a test wants to know of it as one JSON line, and holds it. */
import { systemClock } from '../../src/base/clock.ts';
import { startControlPlane } from '../../src/devcluster/index.ts';

const [dataDir] = process.argv.slice(2);
const running = await startControlPlane({
  env: process.env,
  clock: systemClock,
  ...(dataDir === undefined ? {} : { dataDir }),
});
const { pids, kubeconfigPath, auditLogPath } = running;
process.stdout.write(`${JSON.stringify({ pids, kubeconfigPath, auditLogPath })}\n`);
process.stdin.resume();
