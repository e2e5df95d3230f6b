import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { KIND_NAMES, type KindName } from '../../src/api/kinds.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/logger.ts';
import { isWrite, type AuditEvent } from '../../src/devcluster/index.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { KubeClient, loadKubeConfig, UndiciKubePort, type KubeObject } from '../../src/kube/index.ts';
import { ROOT } from '../api/install.ts';
import { testCluster, type TestCluster } from './cluster.ts';
import { eventually } from './eventually.ts';
import { startOperator, type OperatorSettings, type RunningOperator } from './operator.ts';
import { makeIdentity, type OperatorIdentity } from './rights/identity.ts';
import type { Mode } from './rights/registry.ts';
import type { RunResult } from './run.ts';
import { typeOfKind, type Shown, type ShownCondition } from './world.ts';

export interface RealWorldOptions {
  sandbox?: Partial<SandboxOptions>;
  log?: Logger;
  operator?: Partial<OperatorSettings>;
  /** Merged into `spec.poll` of the Connection. */
  poll?: Partial<Record<'processing' | 'settled' | 'lagWindow', string>>;
  /** Do not start an operator yet. */
  idle?: boolean;
  /** @default the one of the test run */
  cluster?: TestCluster;
  /** What the operator looks after and has rights in; the whole cluster only where no other test is. @default scoped */
  mode?: Mode;
}

export const TOKEN = 'token-of-the-tests';
/** Users before what they use. */
/** What is used goes last. */
const KINDS = KIND_NAMES.toReversed();
const EXAMPLES = join(ROOT, 'deploy/examples');

/**
 * A namespace of the run's API server, an embedded service behind HTTP, and an operator that watches just
 * that namespace, with the ServiceAccount and the rights that the chart gives. `await using` takes all of it down.
 */
export class RealWorld implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly sandbox: Sandbox;
  /** Address of the embedded service. */
  readonly url: string;
  readonly namespace: string;
  /** The operator's own namespace. */
  readonly home: string;
  /** Who the operator is at the API server. */
  readonly user: string;
  /** The person's own client: quicker than kubectl where kubectl is not what is tried. */
  readonly client: KubeClient;
  readonly #port: UndiciKubePort;
  readonly #options: RealWorldOptions;
  #identity: Promise<OperatorIdentity> | undefined;
  #operator: RunningOperator | undefined;

  private constructor(
    cluster: TestCluster,
    options: RealWorldOptions,
    parts: { sandbox: Sandbox; url: string; namespace: string; home: string; port: UndiciKubePort },
  ) {
    this.cluster = cluster;
    this.#options = options;
    this.sandbox = parts.sandbox;
    this.url = parts.url;
    this.namespace = parts.namespace;
    this.home = parts.home;
    this.#port = parts.port;
    this.client = new KubeClient(parts.port, {
      clock: systemClock,
      random: Math.random,
      fieldManager: 'kubectl',
    });
    this.user = `system:serviceaccount:${parts.home}:boxwright`;
  }

  static async start(options: RealWorldOptions = {}): Promise<RealWorld> {
    const cluster = options.cluster ?? testCluster();
    const sandbox = createSandbox({
      account: { email: 'ops@example.com', password: 'password-of-the-tests', token: TOKEN },
      durations: {
        deploy: 400,
        shutdown: 200,
        poweron: 200,
        reinstall: 300,
        reconfigure: 200,
        terminate: 300,
        force_terminate: 200,
      },
      ...options.sandbox,
    });
    const { url } = await sandbox.start();
    const [shop, home] = await Promise.all([cluster.namespace('shop'), cluster.namespace('home')]);
    const { source } = await loadKubeConfig({ file: cluster.kubeconfigPath });
    const port = new UndiciKubePort({ source, clock: systemClock });
    const world = new RealWorld(cluster, options, {
      sandbox,
      url,
      namespace: shop.name,
      home: home.name,
      port,
    });
    if (options.idle !== true) await world.startOperator();
    return world;
  }

  get metrics(): RunningOperator['metrics'] | undefined {
    return this.#operator?.metrics;
  }

  /** The operator's ServiceAccount, with the rights of the chart. */
  identity(): Promise<OperatorIdentity> {
    const { cluster, client, home } = this;
    const values =
      this.#options.operator?.watchSecrets === true ? { values: { secrets: { watch: true } } } : {};
    this.#identity ??= makeIdentity({ cluster, client, home, ...this.#scope(), ...values });
    return this.#identity;
  }

  async startOperator(): Promise<void> {
    const { log, operator } = this.#options;
    const { kubeconfig } = await this.identity();
    this.#operator = startOperator({
      kubeconfig,
      home: this.home,
      ...this.#scope(),
      ...(log === undefined ? {} : { log }),
      ...operator,
    });
  }

  #scope(): { namespaces?: readonly string[] } {
    return this.#options.mode === 'cluster-wide' ? {} : { namespaces: [this.namespace] };
  }

  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    this.#operator = undefined;
    await operator?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    await this.sandbox.stop();
    // What still has a finalizer would keep the namespace for ever; nobody is left to take it off.
    for (const kind of KINDS) {
      for (const { metadata } of await this.list(kind)) {
        // The next that looks after the whole cluster must not find what is this one's.
        if (this.#options.mode === 'cluster-wide') await this.delete(kind, metadata.name);
        if (metadata.finalizers !== undefined)
          await this.patch(kind, metadata.name, { metadata: { finalizers: null } });
      }
    }
    const names = [this.namespace, this.home];
    await this.cluster.kubectl(['delete', 'namespace', '--wait=false', '--ignore-not-found', ...names]);
    await this.#port.close();
  }

  /** kubectl in this world's namespace, whatever it ends with. */
  kubectl(...args: string[]): Promise<RunResult> {
    return this.cluster.kubectl(['--namespace', this.namespace, ...args]);
  }

  /** kubectl that has to succeed; answers its output. */
  async do(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** `kubectl apply` of a text, whatever it ends with. */
  tryApply(manifests: string, ...args: string[]): Promise<RunResult> {
    return this.cluster.kubectl(['--namespace', this.namespace, 'apply', ...args, '-f', '-'], {
      input: manifests,
    });
  }

  /** `kubectl apply` of a text that has to succeed; answers its output. */
  apply(manifests: string): Promise<string> {
    return this.cluster.apply(manifests, this.namespace);
  }

  /** Server-side apply of a text without kubectl, which takes a second on a busy machine. */
  async put(manifests: string): Promise<void> {
    for (const document of parseAllDocuments(manifests)) {
      const object = document.toJS() as KubeObject | null;
      if (object === null) continue;
      object.metadata.namespace = this.namespace;
      await this.client.apply(typeOfKind(object.kind as KindName), object, { force: true });
    }
  }

  /** A merge patch by the person. */
  async patch(kind: KindName | 'Secret' | 'ConfigMap', name: string, patch: object): Promise<void> {
    await this.client.mergePatch(typeOfKind(kind), { namespace: this.namespace, name }, patch);
  }

  edit(kind: KindName, name: string, spec: object): Promise<void> {
    return this.patch(kind, name, { spec });
  }

  annotate(kind: KindName, name: string, annotations: Record<string, string | null>): Promise<void> {
    return this.patch(kind, name, { metadata: { annotations } });
  }

  async delete(kind: KindName | 'Secret' | 'ConfigMap', name: string): Promise<void> {
    await this.client.delete(typeOfKind(kind), { namespace: this.namespace, name });
  }

  /** Waits until a resource is not there any more. */
  async gone(kind: KindName, name: string, timeoutMs = 30_000): Promise<void> {
    try {
      await eventually(`${kind}/${name} is gone`, async () => (await this.get(kind, name)) === undefined, {
        timeoutMs,
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.describe()}`, { cause: error });
    }
  }

  /** Waits with `kubectl wait` until everything named is Ready; answers its output. */
  async waitReady(names: readonly string[], timeoutSeconds = 40): Promise<string> {
    const wait = await this.kubectl(
      'wait',
      '--for=condition=Ready',
      `--timeout=${timeoutSeconds}s`,
      ...names,
    );
    if (wait.code !== 0) throw new Error(`${wait.stderr.trim()}\n${await this.describe()}`);
    return wait.stdout;
  }

  get(kind: KindName, name: string): Promise<Shown | undefined> {
    return this.client.get<Shown & KubeObject>(typeOfKind(kind), { namespace: this.namespace, name });
  }

  list(kind: KindName): Promise<Shown[]> {
    return this.client.list<Shown & KubeObject>(typeOfKind(kind), { namespace: this.namespace });
  }

  /** Waits until Ready is True for the present generation. */
  async ready(kind: KindName, name: string, timeoutMs = 30_000): Promise<Shown> {
    await this.condition(kind, name, { status: 'True' }, timeoutMs);
    const found = await this.get(kind, name);
    if (found === undefined) throw new Error(`${kind}/${name} is gone`);
    return found;
  }

  /** Waits until a condition of a resource is as `wanted` says, and answers it. */
  async condition(
    kind: KindName,
    name: string,
    wanted: { type?: string; status?: string; reason?: string; message?: RegExp },
    timeoutMs = 30_000,
  ): Promise<ShownCondition> {
    let last: Shown | undefined;
    try {
      return await eventually(
        `${kind}/${name} says ${JSON.stringify({ ...wanted, message: wanted.message?.source })}`,
        async () => {
          last = await this.get(kind, name);
          const found = last?.status?.conditions?.find(({ type }) => type === (wanted.type ?? 'Ready'));
          if (found === undefined || found.observedGeneration !== last?.metadata.generation) return undefined;
          const fits =
            (wanted.status === undefined || found.status === wanted.status) &&
            (wanted.reason === undefined || found.reason === wanted.reason) &&
            (wanted.message === undefined || wanted.message.test(found.message));
          return fits ? found : undefined;
        },
        { timeoutMs },
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}; it says ${JSON.stringify(last?.status?.conditions)}`, {
        cause: error,
      });
    }
  }

  /** What every resource says, for failures. */
  async describe(): Promise<string> {
    const lines: string[] = [];
    for (const kind of KINDS) {
      for (const { metadata, status } of await this.list(kind)) {
        const said = status?.conditions
          ?.map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`)
          .join('; ');
        const gone = metadata.deletionTimestamp === undefined ? '' : ' (deleting)';
        lines.push(`${kind}/${metadata.name}${gone} ${said ?? 'no conditions'}`);
      }
    }
    return lines.join('\n');
  }

  /** The Secret and the Connection `main` of this world. `spec` goes into the Connection as YAML lines. */
  connection(token: string = TOKEN, endpoint: string = this.url): string {
    const { processing = '150ms', settled = '2s', lagWindow = '1s' } = this.#options.poll ?? {};
    return `
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {token: ${JSON.stringify(token)}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: main}
spec:
  endpoint: ${endpoint}
  credentialsRef: {name: deploy-login}
  pace: {requestsPerSecond: 500, burst: 1000, inFlight: 64}
  poll: {processing: ${processing}, settled: ${settled}, lagWindow: ${lagWindow}}
`;
  }

  /** Writes of the operator so far, Events and its leader lease aside. */
  operatorWrites(): AuditEvent[] {
    return this.cluster
      .auditLog()
      .filter(
        (event) =>
          event.user.username === this.user &&
          isWrite(event) &&
          event.objectRef?.resource !== 'events' &&
          event.objectRef?.resource !== 'leases',
      );
  }

  /** Service calls that change something, so far. */
  serviceWrites(): readonly { method: string; path: string }[] {
    return this.sandbox.admin.calls().filter(({ method }) => method !== 'GET');
  }
}

/** The example manifests, without the connection: what `kubectl apply -f deploy/examples` brings. */
export function exampleFiles(): string[] {
  return readdirSync(EXAMPLES)
    .filter((file) => file.endsWith('.yaml') && file !== 'connection.yaml')
    .map((file) => join(EXAMPLES, file));
}

/** The examples in one text. */
export function exampleText(): string {
  return exampleFiles()
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n---\n');
}

/** A box, a policy box and nothing more: what an Instance of a test refers to. */
export const BOX_AND_POLICY = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: plain}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  variables:
    - {name: PORT, type: Port, value: '8080'}
  events:
    install: {inline: "#!/bin/bash\\necho installing\\n"}
---
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  profile:
    schema: test/compute/profile
    properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}
`;

/** An Instance of {@link BOX_AND_POLICY}; `spec` is more of its spec, as YAML flow members. */
export function instance(name: string, spec = ''): string {
  const more = spec === '' ? '' : `, ${spec}`;
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: ${name}}
spec: {connectionRef: {name: main}, boxRef: {name: plain}, policyBoxRef: {name: small}${more}}
`;
}
