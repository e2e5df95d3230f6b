import { crdOf } from '../../api/crd.ts';
import { KINDS } from '../../api/kinds.ts';
import type { Clock } from '../../base/clock.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  KubeApiError,
  NAMESPACES,
  pathOf,
  type KubeClient,
  type KubeObject,
  type ObjectRef,
  type ResourceType,
} from '../../kube/index.ts';
import { CommandFailedError } from '../exit-codes.ts';
import type { Manifest } from './manifests.ts';

/** Field manager of what this command applies. */
export const FIELD_MANAGER = 'boxwright-dev';

/** Something that was applied, for the table and for taking it away. */
export interface Applied {
  type: ResourceType;
  ref: ObjectRef;
  /** Whether it was there before. */
  existed: boolean;
}

const ESTABLISHED_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;

interface Crd extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Puts manifests into a cluster by server-side apply. */
export class Applier {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #types = new Map<string, Promise<ResourceType[]>>();

  constructor(kube: KubeClient, clock: Clock, signal: AbortSignal) {
    this.#kube = kube;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Installs the kinds that the cluster does not have, and waits until they are served. Names the new ones. */
  async installKinds(): Promise<string[]> {
    const wanted = KINDS.map(crdOf);
    const signal = this.#signal;
    const made = await Promise.all(
      wanted.map(async (crd) => {
        const there = await this.#kube.get(CUSTOM_RESOURCE_DEFINITIONS, crd.metadata, { signal });
        // Those of an installation are not ours to change.
        if (there !== undefined) return undefined;
        const object: KubeObject = crd;
        await this.#kube.apply(CUSTOM_RESOURCE_DEFINITIONS, object, { fieldManager: FIELD_MANAGER, signal });
        return crd.metadata.name;
      }),
    );
    await Promise.all(wanted.map((crd) => this.#established(crd.metadata.name)));
    return made.filter((name) => name !== undefined);
  }

  /** Makes a namespace. `false` when it was there. */
  async namespace(name: string): Promise<boolean> {
    try {
      await this.#kube.create(NAMESPACES, { metadata: { name } }, { signal: this.#signal });
      return true;
    } catch (error) {
      if (error instanceof KubeApiError && error.isAlreadyExists) return false;
      throw error;
    }
  }

  /** Applies one manifest, in `namespace` unless it names its own. */
  async apply(manifest: Manifest, namespace: string): Promise<Applied> {
    const type = await this.#typeOf(manifest);
    const metadata = { ...manifest.metadata };
    if (type.namespaced) metadata.namespace ??= namespace;
    const ref: ObjectRef = { name: metadata.name, namespace: metadata.namespace };
    const signal = this.#signal;
    const existed = (await this.#kube.get(type, ref, { metadataOnly: true, signal })) !== undefined;
    try {
      await this.#kube.apply(
        type,
        { ...manifest, metadata },
        { fieldManager: FIELD_MANAGER, force: true, signal },
      );
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error;
      throw new CommandFailedError(`${manifest.kind} ${metadata.name}: ${error.statusMessage}`);
    }
    return { type, ref, existed };
  }

  async #established(name: string): Promise<void> {
    const deadline = this.#clock.monotonic() + ESTABLISHED_LIMIT_MS;
    for (;;) {
      const crd = await this.#kube.get<Crd>(CUSTOM_RESOURCE_DEFINITIONS, { name }, { signal: this.#signal });
      const conditions = crd?.status?.conditions ?? [];
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
      if (this.#clock.monotonic() > deadline) {
        throw new CommandFailedError(
          `${name} is not served after ${ESTABLISHED_LIMIT_MS / 1_000} s: look at kubectl describe crd ${name}`,
        );
      }
      await this.#clock.sleep(LOOK_EVERY_MS, this.#signal);
    }
  }

  /** The API server knows the plural and the scope of each kind; that of a new CRD shows a moment later. */
  async #typeOf({ apiVersion, kind }: Manifest): Promise<ResourceType> {
    const deadline = this.#clock.monotonic() + ESTABLISHED_LIMIT_MS;
    for (;;) {
      const found = (await this.#typesOf(apiVersion)).find((type) => type.kind === kind);
      if (found !== undefined) return found;
      this.#types.delete(apiVersion);
      if (this.#clock.monotonic() > deadline || !apiVersion.startsWith('boxwright.dev/')) {
        throw new CommandFailedError(`the cluster has no kind ${kind} in ${apiVersion}`);
      }
      await this.#clock.sleep(LOOK_EVERY_MS, this.#signal);
    }
  }

  #typesOf(apiVersion: string): Promise<ResourceType[]> {
    let types = this.#types.get(apiVersion);
    if (types === undefined) {
      types = this.#discover(apiVersion);
      this.#types.set(apiVersion, types);
    }
    return types;
  }

  async #discover(apiVersion: string): Promise<ResourceType[]> {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    // The path of a collection, without the collection.
    const path = pathOf({ group, version, plural: '', kind: '', namespaced: false }).replace(/\/$/, '');
    try {
      const list = await this.#kube.raw<DiscoveryList>(path, { signal: this.#signal });
      return list.resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, kind, namespaced }) => ({ group, version, plural: name, kind, namespaced }));
    } catch (error) {
      if (error instanceof KubeApiError && error.isNotFound) return [];
      throw error;
    }
  }
}

/** APIResourceList of meta/v1. */
interface DiscoveryList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}
