import { ConnectionKind, type Connection } from '../../api/connection.ts';
import { SecretSet } from '../../base/masking/secret-set.ts';
import { CONDITIONS } from '../../api/reasons.ts';
import { wrongAuthorities } from '../../controllers/connection/authorities.ts';
import { credentialsIn } from '../../controllers/connection/credentials.ts';
import { probe } from '../../controllers/connection/probe.ts';
import { CONFIG_MAPS, KubeApiError, SECRETS, type KubeObject } from '../../kube/index.ts';
import {
  canonicalEndpoint,
  createServiceClient,
  createUndiciPort,
  EndpointError,
  type ClosablePort,
  type ServiceClient,
} from '../../service/index.ts';
import type { CliIo } from '../command.ts';
import { CommandFailedError } from '../exit-codes.ts';
import type { FlagRow } from '../flags.ts';
import { proxiesOf } from '../proxies.ts';
import { printable } from '../terminal.ts';
import { typeOf } from '../watch/type-of.ts';
import type { WatchedResource } from '../watch/resource.ts';
import { refusalOf, type Cluster } from './cluster.ts';

/** Which Connection leads to the service. */
export const CONNECTION_FLAG = {
  flag: '--connection <name>',
  env: 'BOXWRIGHT_CONNECTION',
  type: 'text',
  defaultText: 'the only one of the namespace',
  description: 'Connection that leads to the service; your user needs the right to get its Secret',
} as const satisfies FlagRow;

/** The word that stands for a status when no operator has looked at an endpoint. */
export const ENDPOINT_FLAG = {
  flag: '--endpoint <url>',
  env: 'BOXWRIGHT_ENDPOINT',
  type: 'text',
  defaultText: 'of a Connection that is Ready',
  description: 'spec.endpoint of the Connection, as your word that the credentials may be sent there',
} as const satisfies FlagRow;

/** A service as a person at the terminal may use it, with the credentials of a Connection. */
export interface Service {
  connection: Connection;
  client: ServiceClient;
  /** What its texts must not show. */
  secrets: SecretSet;
  endpoint: string;
  /** Id of the workspace that the Connection works in. */
  workspace: string;
  /** Absolute, without trailing slash. */
  schemaBase: string;
}

/** Makes the way to a service; tests put their own there. */
export type PortTo = (endpoint: string, ca: string | undefined) => ClosablePort;

/**
 * Does something with the service of a Connection, read with the rights of the person, and closes what it opened.
 * Credentials go only to an endpoint that an operator has let pass, or that the person names.
 * @throws CommandFailedError
 */
export async function withService<T>(
  cluster: Cluster,
  io: CliIo,
  { name, endpoint, portTo }: { name?: string | undefined; endpoint?: string | undefined; portTo?: PortTo },
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const { signal } = io.interrupt;
  const connection = await readConnection(cluster, name, signal);
  const { spec } = connection;
  const about = `Connection/${connection.metadata.name}`;
  if (endpoint !== undefined && canonicalEndpoint(endpoint) !== canonicalEndpoint(spec.endpoint)) {
    throw new CommandFailedError(
      `--endpoint is ${endpoint}, and ${about} leads to ${spec.endpoint}: its credentials are not sent`,
    );
  }
  if (endpoint === undefined && !isVetted(connection)) {
    throw new CommandFailedError(
      `${about} is not Ready, so no operator vouches for its endpoint: see boxwright explain ` +
        `connection/${connection.metadata.name}, or confirm it with --endpoint ${spec.endpoint}`,
    );
  }
  const credentials = await readCredentials(cluster, connection, signal);
  const ca = await readAuthorities(cluster, connection, signal);
  const port = (portTo ?? httpTo(io))(spec.endpoint, ca);
  const secrets = new SecretSet();
  const client = createServiceClient({
    port,
    secrets,
    credentials,
    headers: spec.headers,
    release: spec.release,
    pace: spec.pace,
    clock: io.clock,
    random: io.random,
  });
  try {
    const found = await probe(client, spec, signal);
    if (found.kind === 'not') throw new CommandFailedError(`${about}: ${found.verdict.message}`);
    const { workspace, schemaBase } = found;
    return await work({ connection, client, secrets, endpoint: spec.endpoint, workspace, schemaBase });
  } finally {
    client.close();
    await port.close();
  }
}

/** The Connection of that name, else the only one. */
async function readConnection(
  { kube, namespace }: Cluster,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Connection> {
  const type = typeOf(ConnectionKind);
  const all = name === undefined ? await kube.list<WatchedResource>(type, { namespace, signal }) : undefined;
  const [only, ...more] = all ?? [];
  if (more.length > 0) {
    const names = (all ?? []).map(({ metadata }) => metadata.name).join(', ');
    throw new CommandFailedError(
      `namespace ${namespace} has several Connections: give --connection with one of ${names}`,
    );
  }
  const stored =
    name === undefined ? only : await kube.get<WatchedResource>(type, { namespace, name }, { signal });
  if (stored === undefined) {
    const which = name === undefined ? 'no Connection' : `no Connection ${name}`;
    throw new CommandFailedError(
      `there is ${which} in namespace ${namespace}: name another -n or --connection`,
    );
  }
  const parsed = ConnectionKind.parse(stored);
  if (parsed.ok) return parsed.resource;
  const [problem] = parsed.problems;
  throw new CommandFailedError(`Connection/${stored.metadata.name}: ${printable(problem?.message ?? '')}`);
}

/** Whether an operator, which knows what hosts it may call, says of the present endpoint that it works. */
function isVetted({ metadata, status }: Connection): boolean {
  const ready = status.conditions?.find(({ type }) => type === CONDITIONS.ready);
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

interface Data extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

async function readCredentials(
  { kube, namespace }: Cluster,
  { metadata, spec }: Connection,
  signal: AbortSignal,
): Promise<Parameters<typeof createServiceClient>[0]['credentials']> {
  const { name } = spec.credentialsRef;
  const why = `the credentials of Connection/${metadata.name}`;
  const secret = await allowed(why, () => kube.get<Data>(SECRETS, { namespace, name }, { signal }));
  const found = credentialsIn(
    name,
    secret === undefined ? undefined : { type: secret.type, data: bytesOf(secret), refused: undefined },
  );
  if (found.kind === 'missing') throw new CommandFailedError(found.message);
  return found.credentials;
}

async function readAuthorities(
  { kube, namespace }: Cluster,
  { metadata, spec }: Connection,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = spec.tls?.caRef;
  if (ref === undefined) return undefined;
  const type = ref.kind === 'Secret' ? SECRETS : CONFIG_MAPS;
  const why = `spec.tls.caRef of Connection/${metadata.name}`;
  const object = await allowed(why, () => kube.get<Data>(type, { namespace, name: ref.name }, { signal }));
  const text = object?.data?.[ref.key];
  const what = `${ref.kind} "${ref.name}", key ${ref.key}`;
  if (text === undefined) throw new CommandFailedError(`${what} does not exist: it has ${why}`);
  const pem = ref.kind === 'Secret' ? Buffer.from(text, 'base64').toString('utf8') : text;
  const wrong = wrongAuthorities(pem);
  if (wrong !== undefined) throw new CommandFailedError(`${what} ${wrong}`);
  return pem;
}

async function allowed<T>(why: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 403)
      throw new CommandFailedError(`${why} cannot be read: ${refusalOf(error)}`);
    throw error;
  }
}

function bytesOf({ data = {} }: Data): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
}

/** Only that endpoint is called: who may be is settled before the credentials are read. */
function httpTo({ env, clock }: CliIo): PortTo {
  return (endpoint, ca) => {
    const url = URL.parse(endpoint);
    try {
      return createUndiciPort({
        endpoint,
        ca,
        clock,
        proxies: proxiesOf(env),
        allowedHosts: [url?.host ?? ''],
        allowInsecure: true,
        allowLoopback: true,
      });
    } catch (error) {
      if (error instanceof EndpointError) throw new CommandFailedError(error.message);
      throw error;
    }
  };
}
