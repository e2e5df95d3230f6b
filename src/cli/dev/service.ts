import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { createSandbox } from '../../sandbox/index.ts';
import type { DevFlags } from './flags.ts';
import type { Manifest } from './manifests.ts';

/** The service that the examples are deployed on. */
export interface DevService {
  embedded: boolean;
  endpoint: string;
  /** Keys and values of the credentials Secret. */
  login: Readonly<Record<string, string>>;
  /** A link to the page of the embedded service that logs in once. */
  page?: string;
  stop(): Promise<void>;
}

/** Names of what stands in the place of connection.yaml. */
const SECRET = 'demo-login';
const CONNECTION = 'main';

/** Starts the embedded service, or takes the one that the flags name. */
export async function openService(flags: DevFlags, clock: Clock, log: Logger): Promise<DevService> {
  const { endpoint, token, email, password } = flags;
  if (endpoint !== undefined) {
    const login = token === undefined ? { email: email ?? '', password: password ?? '' } : { token };
    return { embedded: false, endpoint, login, stop: () => Promise.resolve() };
  }
  const sandbox = createSandbox({ clock, log: (message, fields) => log.warn(fields, message) });
  const { url } = await sandbox.start();
  const { token: made } = sandbox.credentials;
  // The data are new, so there is one.
  return {
    embedded: true,
    endpoint: url,
    login: { token: made ?? '' },
    page: sandbox.loginLink(),
    stop: () => sandbox.stop(),
  };
}

/** The Secret and the Connection that the examples refer to. */
export function connectionManifests({ endpoint, login }: DevService): Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET }, stringData: login },
    {
      apiVersion: 'boxwright.dev/v1alpha1',
      kind: 'Connection',
      metadata: { name: CONNECTION },
      spec: { endpoint, credentialsRef: { name: SECRET } },
    },
  ];
}
