import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import {
  Informer,
  KubeClient,
  loadKubeConfig,
  UndiciKubePort,
  type KubeObject,
  type ResourceType,
} from '../../src/kube/index.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY } from '../support/real-world.ts';
import { typeOfKind, type Shown } from '../support/world.ts';

const CRDS = join(import.meta.dirname, '../../crds');
export const CRD_TYPE: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
/** Applies under way at the same time. */
const APPLIERS = 32;

/** The person of the bench: applies, and watches what becomes Ready. */
export class Bench {
  readonly namespace: string;
  readonly client: KubeClient;
  readonly #port: UndiciKubePort;
  readonly #instances: Informer<Shown & KubeObject>;
  readonly #over = new AbortController();
  /** When each apply was answered, milliseconds since the epoch. */
  readonly appliedAt = new Map<string, number>();

  private constructor(port: UndiciKubePort, namespace: string) {
    this.#port = port;
    this.namespace = namespace;
    this.client = new KubeClient(port, { clock: systemClock, random: Math.random, fieldManager: 'bench' });
    this.#instances = new Informer<Shown & KubeObject>({
      port,
      clock: systemClock,
      random: Math.random,
      type: typeOfKind('Instance'),
      namespaces: [namespace],
    });
  }

  static async open(kubeconfig: string, namespace = 'default'): Promise<Bench> {
    const { source } = await loadKubeConfig({ file: kubeconfig });
    return new Bench(new UndiciKubePort({ source, clock: systemClock }), namespace);
  }

  async stop(): Promise<void> {
    this.#over.abort(new Error('the bench is over'));
    await this.#port.close();
  }

  async apply(manifests: string): Promise<void> {
    for (const document of parseAllDocuments(manifests)) {
      const object = document.toJS() as KubeObject | null;
      if (object === null) continue;
      object.metadata.namespace = this.namespace;
      await this.client.apply(typeOfKind(object.kind as 'Box'), object, { force: true });
    }
  }

  /** The connection at the pace of the bench, a box, a policy box. */
  async prepare(
    service: { url: string; token: string },
    poll = '{}',
    pace = '{requestsPerSecond: 1000, burst: 2000, inFlight: 128}',
  ): Promise<void> {
    await eventually('the kinds are served', async () => {
      await this.client.list(typeOfKind('Instance'), { namespace: this.namespace });
      return true;
    });
    await this.apply(`
{apiVersion: v1, kind: Secret, metadata: {name: deploy-login}, stringData: {token: ${service.token}}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: main}
spec:
  endpoint: ${service.url}
  credentialsRef: {name: deploy-login}
  pace: ${pace}
  poll: ${poll}
---${BOX_AND_POLICY}`);
    void this.#instances.start(this.#over.signal);
    await this.#instances.synced;
  }

  async referencesReady(): Promise<void> {
    for (const [kind, name] of [
      ['Box', 'plain'],
      ['PolicyBox', 'small'],
    ] as const) {
      const ref = { namespace: this.namespace, name };
      await eventually(`${kind} is Ready`, async () =>
        isReady(await this.client.get<Shown & KubeObject>(typeOfKind(kind), ref)),
      );
    }
  }

  /** Makes `count` instances, numbered from `first`. */
  async applyInstances(count: number, first = 0): Promise<void> {
    const type = typeOfKind('Instance');
    let next = first;
    const applier = async (): Promise<void> => {
      while (next < first + count && !this.#over.signal.aborted) {
        const name = `bench-${next++}`;
        await this.client.create(type, {
          metadata: { name, namespace: this.namespace },
          spec: {
            connectionRef: { name: 'main' },
            boxRef: { name: 'plain' },
            policyBoxRef: { name: 'small' },
          },
        });
        this.appliedAt.set(name, systemClock.now());
      }
    };
    await Promise.all(Array.from({ length: APPLIERS }, applier));
  }

  /** Instances that are Ready now. */
  ready(): number {
    return this.readyNames().length;
  }

  readyNames(): string[] {
    return this.#instances
      .list(this.namespace)
      .filter(isReady)
      .map(({ metadata }) => metadata.name);
  }

  /** The id of the record of an instance. */
  idOf(name: string): string {
    const instance = this.#instances.get(`${this.namespace}/${name}`);
    return (instance?.status as { id?: string } | undefined)?.id ?? '';
  }

  async allReady(count: number, progress: (ready: number) => void): Promise<void> {
    let told = 0;
    await eventually(
      `${count} instances are Ready`,
      () => {
        const ready = this.ready();
        if (ready >= told + count / 5) progress((told = ready));
        return ready >= count;
      },
      { timeoutMs: 900_000, everyMs: 250 },
    );
  }
}

/** Applies the CRDs. */
export async function applyKinds(bench: Bench): Promise<void> {
  for (const file of readdirSync(CRDS)) {
    const [document] = parseAllDocuments(readFileSync(join(CRDS, file), 'utf8'));
    await bench.client.apply(CRD_TYPE, document?.toJS() as KubeObject, { force: true });
  }
}

export const NAMESPACES: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

/** Whether what stands in status holds for what is declared now, and is Ready. */
export function isReady(object: Shown | undefined): boolean {
  return (
    object?.status?.conditions?.some(
      ({ type, status, observedGeneration }) =>
        type === 'Ready' && status === 'True' && observedGeneration === object.metadata.generation,
    ) === true
  );
}
