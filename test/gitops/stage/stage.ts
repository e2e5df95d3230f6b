import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { systemClock } from '../../../src/base/clock.ts';
import { isWrite, type AuditEvent } from '../../../src/devcluster/index.ts';
import { Supervisor, type SupervisedProgram } from '../../../src/devcluster/supervisor/supervised.ts';
import { GROUP } from '../../../src/api/names.ts';
import { KINDS } from '../../../src/api/kinds.ts';
import { loadKubeConfig, KubeClient, UndiciKubePort } from '../../../src/kube/index.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { ROOT } from '../../api/install.ts';
import { buildImage, type Image } from '../../chart/image.ts';
import { SmallNode } from '../../chart/node/small-node.ts';
import type { TestCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { ownCluster } from '../../support/own-cluster.ts';
import { chartRegistry, type ChartRegistry } from './chart-registry.ts';
import { GitServer } from './git-server.ts';

/** The operator's namespace in the samples. */
export const HOME = 'boxwright-system';
/** That of the resources. */
export const SHOP = 'shop';
/** An Instance of a box that the service does not know: it is Stalled. */
export const LOST = {
  apiVersion: 'boxwright.dev/v1alpha1',
  kind: 'Instance',
  metadata: { name: 'lost' },
  spec: {
    connectionRef: { name: 'main' },
    boxId: '5f0c4c4e4c4e4c4e4c4e4c4e',
    policyBoxRef: { name: 'small' },
  },
};
const OURS = KINDS.map(({ plural, group }) => `${plural}.${group}`).join(',');
/** Milliseconds. For one step on a machine that has other things to do. */
export const PATIENCE_MS = 900_000;

/** An object, as far as the checks read it. */
export interface Live {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    generation?: number;
    resourceVersion?: string;
    annotations?: Record<string, string>;
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown> & {
    observedGeneration?: number;
    phase?: string;
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
}

/** A program of a GitOps tool, and where it says that it is ready. */
export interface StageProgram {
  name: string;
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  ready: string;
}

/** What a GitOps tool works on: a cluster with a node that runs pods, a repository, a registry and the service. */
export class Stage implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly git: GitServer;
  readonly registry: ChartRegistry;
  readonly service: Sandbox;
  /** Of the service. */
  readonly url: string;
  readonly #scratch: string;
  readonly #supervisor: Supervisor;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    parts: Pick<Stage, 'cluster' | 'git' | 'registry' | 'service' | 'url'>,
    scratch: string,
    supervisor: Supervisor,
    stack: AsyncDisposableStack,
  ) {
    this.cluster = parts.cluster;
    this.git = parts.git;
    this.registry = parts.registry;
    this.service = parts.service;
    this.url = parts.url;
    this.#scratch = scratch;
    this.#supervisor = supervisor;
    this.#parts = stack;
  }

  static async start(): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const scratch = mkdtempSync(join(tmpdir(), 'boxwright-stage-'));
    stack.defer(() => rmSync(scratch, { recursive: true, force: true }));
    const image = stack.use(await buildImage());
    const { cluster } = stack.use(await ownCluster());
    const { source } = await loadKubeConfig({ file: cluster.kubeconfigPath });
    const port = new UndiciKubePort({ source, clock: systemClock });
    stack.defer(() => port.close());
    const client = new KubeClient(port, { clock: systemClock, random: Math.random });
    stack.use(node(cluster, client, image));
    const service = createSandbox({ durations: { deploy: 400, terminate: 300, shutdown: 200 } });
    stack.defer(() => service.stop());
    const { url } = await service.start();
    const git = stack.use(await GitServer.start());
    const registry = stack.use(await chartRegistry(cluster));
    const supervisor = new Supervisor({ graceMs: 10_000 });
    stack.defer(() => supervisor.stop());
    return new Stage({ cluster, git, registry, service, url }, scratch, supervisor, stack.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync().then(() => undefined);
  }

  /** A folder that goes with the stage. */
  folder(name: string): string {
    return mkdtempSync(join(this.#scratch, `${name}-`));
  }

  /** Runs a program of a GitOps tool until the stage goes, and waits until it answers. */
  async run({ name, command, args, env = {}, ready }: StageProgram): Promise<void> {
    const running = this.start(name, command, args, env);
    await eventually(`${name} answers`, async () => running.end !== undefined || (await fetch(ready)).ok, {
      timeoutMs: PATIENCE_MS,
    });
    if (running.end !== undefined) throw new Error(`${name} has ended:\n${this.tailOf(name)}`);
  }

  /** Runs a program until the stage goes. */
  start(
    name: string,
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): SupervisedProgram {
    const base = {
      PATH: process.env['PATH'],
      HOME: this.#scratch,
      KUBECONFIG: this.cluster.kubeconfigPath,
    };
    return this.#supervisor.start({ command, args, env: { ...base, ...env }, logFile: this.logOf(name) });
  }

  logOf(name: string): string {
    return join(this.#scratch, `${name}.log`);
  }

  /** The end of what a program has logged, for failures. */
  tailOf(name: string): string {
    return readFileSync(this.logOf(name), 'utf8').slice(-2_000);
  }

  /** kubectl that has to succeed. */
  async kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.kubectl(args, { timeoutMs: PATIENCE_MS });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout.trim();
  }

  /** Installs definitions of a tool, from files or folders, until the API server serves them. */
  async define(...paths: string[]): Promise<void> {
    const files = paths.flatMap((path) => ['--filename', path]);
    await this.kubectl('apply', '--server-side', ...files);
    // One that has no conditions yet is an error to kubectl.
    await this.until('the definitions are served', async () => {
      await this.kubectl('wait', '--for=condition=Established', '--timeout=60s', ...files);
      return true;
    });
  }

  get(kind: string, name: string, namespace: string = SHOP): Promise<Live> {
    return this.cluster.get<Live>(kind, name, '--namespace', namespace);
  }

  /** Every resource of ours. */
  async ours(): Promise<Live[]> {
    return (await this.cluster.get<{ items: Live[] }>(OURS, '--all-namespaces')).items;
  }

  /** Waits for what `look` says of an object. */
  until(what: string, look: () => Promise<boolean>): Promise<unknown> {
    return eventually(what, look, { timeoutMs: PATIENCE_MS, everyMs: 500 });
  }

  /** Writes to resources of ours that were answered between two moments, by whom. */
  writesSince(seen: number): string[] {
    return this.cluster
      .auditLog()
      .slice(seen)
      .filter((event) => isWrite(event) && !isDryRun(event) && event.objectRef?.apiGroup === GROUP)
      .map(({ verb, requestURI, userAgent }) => `${verb} ${requestURI} ${userAgent}`);
  }
}

function isDryRun({ requestURI }: AuditEvent): boolean {
  return requestURI.includes('dryRun=All');
}

function node(cluster: TestCluster, client: KubeClient, image: Image): SmallNode {
  return new SmallNode({ cluster, client, namespace: HOME, image });
}

/** Whether a condition of an object is as wanted. */
export function has({ status }: Live, type: string, value: string): boolean {
  return status?.conditions?.some((one) => one.type === type && one.status === value) === true;
}

/** The files of a folder of the project, by their path from the root, each object changed as a reader would. */
export function filesOf(
  folder: string,
  change: (object: Live) => Live = (object) => object,
): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.yaml')) continue;
    const path = `${folder}/${name}`;
    const objects = parseAllDocuments(readFileSync(join(ROOT, path), 'utf8'))
      .map((document) => document.toJS() as Live | null)
      .filter((object) => object !== null);
    files[path] = objects.map((object) => stringify(change(object), { lineWidth: 0 })).join('---\n');
  }
  return files;
}
