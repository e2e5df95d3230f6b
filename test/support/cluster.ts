import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import {
  Authority,
  readAuditLog,
  renderKubeconfig,
  type AuditEvent,
  type Credentials,
} from '../../src/devcluster/index.ts';
import { run, type RunOptions, type RunResult } from './run.ts';
import type { ProvidedControlPlane } from './control-plane.ts';

/** The control plane of the test run, as one test file uses it. */
export interface TestCluster {
  readonly kubeconfigPath: string;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** The administrator's certificate and key, PEM. */
  readonly cert: string;
  readonly key: string;
  /** Process ids of the supervisor and the programs. */
  readonly pids: readonly number[];
  /** Runs kubectl as the administrator, or with `env: {KUBECONFIG}` as somebody else. */
  kubectl(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  helm(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** `kubectl get <args> -o json`, parsed. Throws with kubectl's words when it fails. */
  get<T>(...args: string[]): Promise<T>;
  /** `kubectl apply` of a manifest's text. Throws with kubectl's words when it fails. */
  apply(manifest: string, namespace?: string): Promise<string>;
  applyFile(path: string, namespace?: string): Promise<string>;
  /** A fresh namespace. `await using` cleans up by itself. */
  namespace(prefix?: string): Promise<TestNamespace>;
  credentialsFor(user: string, groups?: readonly string[]): Credentials;
  /** Writes a kubeconfig for another user and answers its path. */
  kubeconfigFor(user: string, groups?: readonly string[]): string;
  /** All requests answered so far. */
  auditLog(): AuditEvent[];
}

export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
  /** Begins to delete it; does not wait for its end. */
  cleanup(): Promise<void>;
}

/** The control plane that all test files of a run share, or another one. */
export function testCluster(provided: ProvidedControlPlane = inject('controlPlane')): TestCluster {
  const scratch = dirname(provided.kubeconfigPath);
  const env = {
    KUBECONFIG: provided.kubeconfigPath,
    // Not the caches of the person who runs the tests: an old run's API server may have had the same port.
    KUBECACHEDIR: join(scratch, 'kubectl-cache'),
    HELM_CACHE_HOME: join(scratch, 'helm-cache'),
    HELM_CONFIG_HOME: join(scratch, 'helm-config'),
    HELM_DATA_HOME: join(scratch, 'helm-data'),
  };
  const tool =
    (command: string) =>
    (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
      run(command, args, { ...options, env: { ...env, ...options.env } });
  const kubectl = tool(provided.kubectl);

  async function succeed(args: readonly string[], options?: RunOptions): Promise<string> {
    const result = await kubectl(args, options);
    if (result.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${result.stderr.trim()}`);
    return result.stdout;
  }
  const credentialsFor = (user: string, groups?: readonly string[]): Credentials =>
    Authority.open(provided.pkiDir, systemClock).client(user, groups);

  return {
    kubeconfigPath: provided.kubeconfigPath,
    server: provided.server,
    ca: provided.ca,
    cert: provided.cert,
    key: provided.key,
    pids: provided.pids,
    kubectl,
    helm: tool(provided.helm),
    get: async <T>(...args: string[]) => JSON.parse(await succeed(['get', ...args, '-o', 'json'])) as T,
    apply: (manifest, namespace) => succeed(['apply', ...within(namespace), '-f', '-'], { input: manifest }),
    applyFile: (path, namespace) => succeed(['apply', ...within(namespace), '-f', path]),
    async namespace(prefix = 'test') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`;
      await succeed(['create', 'namespace', name]);
      const cleanup = async (): Promise<void> => {
        await succeed(['delete', 'namespace', name, '--wait=false', '--ignore-not-found']);
      };
      return { name, cleanup, [Symbol.asyncDispose]: cleanup };
    },
    credentialsFor,
    kubeconfigFor(user, groups) {
      const path = join(scratch, `${randomBytes(4).toString('hex')}.kubeconfig`);
      const credentials = credentialsFor(user, groups);
      writeFileSync(path, renderKubeconfig({ server: provided.server, ca: provided.ca, user, credentials }), {
        mode: 0o600,
      });
      return path;
    },
    auditLog: () => readAuditLog(provided.auditLogPath),
  };
}

function within(namespace?: string): string[] {
  return namespace === undefined ? [] : ['--namespace', namespace];
}
