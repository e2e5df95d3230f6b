import { join } from 'node:path';

/** Where one control plane keeps its things. */
export interface Layout {
  /** etcd's data; survives a restart when the user gave a data directory. */
  etcdData: string;
  /** Keys and certificates; survive together with the data. */
  pki: string;
  /** Logs, sockets and generated settings of this run. Short, since a socket's path has at most 107 bytes. */
  run: string;
}

/** File names within {@link Layout.pki} and {@link Layout.run}. */
export function files(layout: Layout) {
  const pki = (name: string): string => join(layout.pki, name);
  const run = (name: string): string => join(layout.run, name);
  return {
    ca: pki('ca.crt'),
    serverCert: pki('server.crt'),
    serverKey: pki('server.key'),
    accountKey: pki('service-account.key'),
    accountPublicKey: pki('service-account.pub'),
    adminKubeconfig: pki('admin.kubeconfig'),
    managerKubeconfig: pki('controller-manager.kubeconfig'),
    port: pki('port'),
    etcdSocket: run('etcd.sock'),
    etcdPeerSocket: run('peer.sock'),
    auditPolicy: run('audit-policy.yaml'),
    auditLog: run('audit.log'),
  };
}

/** Everything, once it is answered, without bodies: enough to count who wrote what. */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`;

/**
 * etcd listens on sockets in a private folder instead of ports: it has no authentication here, and whoever
 * can write to it can do everything.
 */
export function etcdArguments(layout: Layout): string[] {
  const { etcdSocket, etcdPeerSocket } = files(layout);
  return [
    `--data-dir=${layout.etcdData}`,
    `--listen-client-urls=unix://${etcdSocket}`,
    // Demanded, of the form host:port, and used by nobody: a cluster of one has no peers and one client.
    '--advertise-client-urls=http://localhost:2379',
    `--listen-peer-urls=unix://${etcdPeerSocket}`,
    // A crash of the machine may lose data, a crash of the process does not; writes are ten times as fast.
    '--unsafe-no-fsync',
    '--auto-compaction-retention=5m',
    '--log-level=warn',
  ];
}

/** What the API server does besides its work. */
export interface ApiServerExtras {
  auditLog?: boolean;
  profiling?: boolean;
}

export function apiServerArguments(
  layout: Layout,
  port: number,
  { auditLog = true, profiling = false }: ApiServerExtras = {},
): string[] {
  const at = files(layout);
  return [
    `--etcd-servers=unix://${at.etcdSocket}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    // Loopback is no endpoint for anybody else; the default would complain about it every ten seconds.
    '--endpoint-reconciler-type=none',
    `--cert-dir=${layout.run}`,
    `--tls-cert-file=${at.serverCert}`,
    `--tls-private-key-file=${at.serverKey}`,
    `--client-ca-file=${at.ca}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${at.accountPublicKey}`,
    `--service-account-signing-key-file=${at.accountKey}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    ...(auditLog
      ? [
          `--audit-policy-file=${at.auditPolicy}`,
          `--audit-log-path=${at.auditLog}`,
          // MiB before rotation: a reader of the log shall find all of it in one file.
          '--audit-log-maxsize=4096',
        ]
      : []),
    `--profiling=${profiling}`,
  ];
}

export function controllerManagerArguments(layout: Layout): string[] {
  const at = files(layout);
  return [
    `--kubeconfig=${at.managerKubeconfig}`,
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${at.accountKey}`,
    `--root-ca-file=${at.ca}`,
    // No port: nobody scrapes it.
    '--secure-port=0',
    // Tests make and end namespaces by the dozen; the default of 20 calls a second makes them wait.
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}
