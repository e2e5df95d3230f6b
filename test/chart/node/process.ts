import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestCluster } from '../../support/cluster.ts';
import type { Container, Pod } from './types.ts';

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** /var/run is /run where this runs; the file system above it is read-only from then on. */
const SET_UP = `
hostname "$HOSTNAME"
mount -t tmpfs none /run
mkdir -p /run/secrets/kubernetes.io
cp -r "$0" /run/secrets/kubernetes.io/serviceaccount
mount -o remount,ro /run
mount --bind / / && mount -o remount,bind,ro /
cd /
exec "$@"`;

export interface ProcessOptions {
  cluster: TestCluster;
  /** Stands for the image: what runs where the container names no command. */
  entryPoint: readonly string[];
  /** A folder of this pod alone. */
  folder: string;
  /** Loopback address of this pod alone. */
  address: string;
}

/** Runs a container's command with its environment and its token, with a host name and a view of the files of its own. */
export async function startContainer(
  pod: Pod,
  container: Container,
  options: ProcessOptions,
): Promise<{ child: ChildProcess; log: string[] }> {
  const { cluster, folder, address } = options;
  const account = join(folder, 'serviceaccount');
  mkdirSync(account, { recursive: true });
  if (container.volumeMounts?.some(({ mountPath }) => mountPath === MOUNT) === true) {
    const namespace = pod.metadata.namespace ?? '';
    const bound = ['--bound-object-kind=Pod', `--bound-object-name=${pod.metadata.name}`];
    const name = pod.spec.serviceAccountName;
    const token = await cluster.kubectl(['create', 'token', name, '-n', namespace, ...bound]);
    if (token.code !== 0) throw new Error(token.stderr);
    writeFileSync(join(account, 'token'), token.stdout.trim());
    writeFileSync(join(account, 'ca.crt'), cluster.ca);
    writeFileSync(join(account, 'namespace'), namespace);
  }
  const words = [...(container.command ?? options.entryPoint), ...(container.args ?? [])];
  const uid = pod.spec.securityContext?.runAsUser ?? 65_532;
  const asRoot = process.getuid?.() === 0;
  const drop = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs'];
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--uts',
      ...(asRoot ? [] : ['--user', '--map-root-user']),
      'sh',
      '-ec',
      SET_UP,
      account,
      ...(asRoot ? drop : []),
      ...words,
    ],
    { env: environment(pod, container, cluster, address), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => log.push(text));
  }
  child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return { child, log };
}

function environment(
  pod: Pod,
  { env = [] }: Container,
  { server }: TestCluster,
  address: string,
): Record<string, string> {
  const { hostname, port } = new URL(server);
  const given = env.map(({ name, value, valueFrom }): [string, string] => {
    const field = valueFrom?.fieldRef?.fieldPath;
    if (field !== undefined && field !== 'metadata.namespace') throw new Error(`no field ${field} here`);
    const text = field === undefined ? (value ?? '') : (pod.metadata.namespace ?? '');
    // A pod has its own network; here every pod has an address of the one there is.
    return [name, text.replace('0.0.0.0', address)];
  });
  return {
    PATH: `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOSTNAME: pod.metadata.name,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ...Object.fromEntries(given),
  };
}
