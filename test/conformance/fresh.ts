import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { Client } from './client.ts';
import type { Cast } from './world.ts';

const LOGIN = { email: 'conformance@example.com', password: 'conformance' };

/** A fresh embedded service with everybody who takes part. */
export async function freshSandbox(): Promise<{ sandbox: Sandbox; cast: Cast }> {
  const sandbox = createSandbox({
    account: LOGIN,
    accounts: [
      { email: 'member@example.com', password: 'p', token: 'member-token' },
      { email: 'outsider@example.com', password: 'p', token: 'outsider-token', organization: 'acme' },
    ],
    durations: {
      deploy: 150,
      poweron: 100,
      shutdown: 100,
      reinstall: 100,
      reconfigure: 100,
      pull: 100,
      terminate: 100,
      force_terminate: 50,
      provider: 100,
      providerSync: 100,
      providerDelete: 50,
      groupSync: 50,
    },
  });
  const { url } = await sandbox.start();
  const cast: Cast = {
    main: await Client.login(url, LOGIN),
    member: new Client(url, 'member-token'),
    outsider: new Client(url, 'outsider-token'),
    credentials: LOGIN,
  };
  return { sandbox, cast };
}
