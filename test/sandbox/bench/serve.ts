import { createSandbox, TEST_PROVIDER_ID } from '../../../src/sandbox/index.ts';

/** The service under measurement; answers "memory" with its own. */
const sandbox = createSandbox({ data: process.argv[2] ?? ':memory:' });
const { url } = await sandbox.start();
process.on('message', (message) => {
  if (message !== 'memory') return;
  process.send?.({ ...process.memoryUsage(), cpu: process.cpuUsage() });
});
process.once('SIGTERM', () => void sandbox.stop().then(() => process.exit(0)));
process.send?.({
  url,
  token: sandbox.credentials.token,
  base: sandbox.schemaBase,
  provider: TEST_PROVIDER_ID,
});
