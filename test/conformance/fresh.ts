import { BUNDLES, createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { Client } from './client.ts';
import type { Cast } from './world.ts';

const LOGIN = { email: 'conformance@example.com', password: 'conformance' };

/** What runs, and everybody who takes part. */
interface Fresh {
  sandbox: Sandbox;
  cast: Cast;
  stop: () => Promise<void>;
}

/** Another one as old clients want it, with what can be read more strictly read so. */
async function classicService(): Promise<{ sandbox: Sandbox; classic: Client }> {
  const sandbox = createSandbox({
    account: { ...LOGIN, token: 'classic-token' },
    headers: { token: ['X-Old-Token'], release: ['X-Old-Release'] },
    readings: {
      ...BUNDLES.classic.readings,
      boxPut: 'refuse',
      passwords: 'masked',
      release: 'strict',
    },
  });
  const { url } = await sandbox.start();
  return { sandbox, classic: new Client(url, 'classic-token') };
}

/** A fresh embedded service with everybody who takes part. */
export async function freshSandbox(): Promise<Fresh> {
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
  const old = await classicService();
  const cast: Cast = {
    main: await Client.login(url, LOGIN),
    member: new Client(url, 'member-token'),
    outsider: new Client(url, 'outsider-token'),
    credentials: LOGIN,
    classic: old.classic,
  };
  const stop = async (): Promise<void> => {
    await Promise.all([sandbox.stop(), old.sandbox.stop()]);
  };
  return { sandbox, cast, stop };
}
