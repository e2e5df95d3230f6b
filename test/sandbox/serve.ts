import { runSandbox } from '../../src/sandbox/index.ts';

/** A sandbox in a process of its own, for tests that kill it. Arguments: data directory, port, credentials file. */
const [data = ':memory:', port = '0', credentialsFile = ''] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await runSandbox(
  {
    host: '127.0.0.1',
    port: Number(port),
    adminPort: 0,
    data,
    token: 'kill-token',
    duration: ['deploy=200', 'terminate=200'],
    credentialsFile,
  },
  { write: (text) => process.stdout.write(text), signal: stop.signal },
);
