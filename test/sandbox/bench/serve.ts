import { createSandbox, keepHeapSmall, TEST_PROVIDER_ID } from '../../../src/sandbox/index.ts';

/** The service under measurement, as `boxwright sandbox` runs it; answers "usage" with its own. */
keepHeapSmall();
const sandbox = createSandbox({ data: process.argv[2] ?? ':memory:' });
const { url } = await sandbox.start();
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { maxRSS } = process.resourceUsage();
  process.send?.({ ...process.memoryUsage(), maxRss: maxRSS * 1024, cpu: process.cpuUsage() });
});
process.once('SIGTERM', () => void sandbox.stop().then(() => process.exit(0)));
process.send?.({
  url,
  token: sandbox.credentials.token,
  link: sandbox.loginLink(),
  base: sandbox.schemaBase,
  provider: TEST_PROVIDER_ID,
});
