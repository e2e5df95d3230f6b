import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { KubeClient } from '../../../src/kube/index.ts';
import { Helm } from '../../chart/chart.ts';
import type { TestCluster } from '../cluster.ts';
import { eventually } from '../eventually.ts';
import { grantsOf, rightsAmong, type Grant, type RbacObject } from './grants.ts';
import { registerIdentity, type Mode } from './registry.ts';

export interface IdentityOptions {
  cluster: TestCluster;
  /** The administrator's. */
  client: KubeClient;
  /** The operator's own namespace. */
  home: string;
  /** The namespaces that it looks after, with rights in these only; absent: all. */
  namespaces?: readonly string[];
  /** Further values of the chart. */
  values?: object;
}

/** Who an operator is at the API server. */
export interface OperatorIdentity {
  user: string;
  /** Its ServiceAccount's, in the kubeconfig file. */
  token: string;
  kubeconfig: string;
}

/** A name that stands in the rendered text for one that is not known yet. */
const HOME = 'namespace-of-the-operator';
const WATCHED = 'namespace-of-the-resources';
/** Longer than any run of the tests. */
const TOKEN_SECONDS = 24 * 3_600;

/**
 * Gives an operator the ServiceAccount, the roles and the bindings that the chart would, and a token of its own
 * from the TokenRequest API. Its requests are compared with its rights at the end of the run.
 */
export async function makeIdentity(options: IdentityOptions): Promise<OperatorIdentity> {
  const { cluster, client, home, namespaces } = options;
  const mode: Mode = namespaces === undefined ? 'cluster-wide' : 'scoped';
  const rights = rightsAmong(await render(options), home);
  for (const object of rights.objects) await client.apply(typeOf(object), object, { force: true });
  const { user } = registerIdentity(rights, home, mode);
  await inForce(client, user, grantsOf(rights, home));
  const token = await tokenFor(client, home, rights.account);
  return { user, token, kubeconfig: kubeconfigWith(cluster, home, token) };
}

/** A kubeconfig file with a token. */
export function kubeconfigWith(cluster: TestCluster, name: string, token: string): string {
  const path = join(dirname(cluster.kubeconfigPath), `${name}-${randomBytes(4).toString('hex')}.kubeconfig`);
  const ca = Buffer.from(cluster.ca).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tests', cluster: { server: cluster.server, 'certificate-authority-data': ca } }],
    users: [{ name: 'operator', user: { token } }],
    contexts: [{ name: 'operator', context: { cluster: 'tests', user: 'operator' } }],
    'current-context': 'operator',
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}

/** The chart's objects. Helm takes a second on a busy machine, so a control plane's tests render once. */
async function render({ cluster, home, namespaces, values }: IdentityOptions): Promise<RbacObject[]> {
  const kept = join(
    dirname(cluster.kubeconfigPath),
    `chart-${namespaces === undefined ? 'cluster' : 'scoped'}.json`,
  );
  const cacheable = values === undefined;
  let text = cacheable && existsSync(kept) ? readFileSync(kept, 'utf8') : undefined;
  if (text === undefined) {
    const scope = namespaces === undefined ? {} : { namespaces: [WATCHED] };
    const objects = await new Helm(cluster).objects({ ...values, ...scope }, '--namespace', HOME);
    text = JSON.stringify(objects);
    if (cacheable) {
      const part = `${kept}.${randomBytes(4).toString('hex')}`;
      writeFileSync(part, text);
      renameSync(part, kept);
    }
  }
  const objects = JSON.parse(text.replaceAll(HOME, home)) as RbacObject[];
  return objects.flatMap((object) => {
    if (object.metadata.namespace !== WATCHED) return [object];
    return (namespaces ?? []).map((namespace) => ({
      ...object,
      metadata: { ...object.metadata, namespace },
    }));
  });
}

/** The API server follows roles and bindings by a watch: right after they are made it may not know them yet. */
async function inForce(client: KubeClient, user: string, grants: readonly Grant[]): Promise<void> {
  const roles = new Map(grants.map((grant) => [`${grant.scope} ${grant.namespace ?? ''}`, grant]));
  for (const { namespace, apiGroup, resource, verb, name } of roles.values()) {
    const [plural = '', subresource] = resource.split('/');
    const resourceAttributes = { namespace, group: apiGroup, resource: plural, subresource, verb, name };
    await eventually(`${user} may ${verb} ${resource}`, async () => {
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
      const { body } = await client.port.request({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: { ...review, spec: { user, resourceAttributes } },
      });
      return (body as { status?: { allowed?: boolean } }).status?.allowed;
    });
  }
}

async function tokenFor(client: KubeClient, namespace: string, account: string): Promise<string> {
  const { status, body } = await client.port.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    },
  });
  const token = (body as { status?: { token?: string } }).status?.token;
  if (token === undefined) throw new Error(`no token for ${account}: ${status} ${JSON.stringify(body)}`);
  return token;
}

function typeOf({
  apiVersion,
  kind,
  metadata: { namespace },
}: RbacObject): Parameters<KubeClient['apply']>[0] {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: namespace !== undefined };
}
