import { KINDS } from '../../api/kinds.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { Informer, type KubePort } from '../../kube/index.ts';
import { typeOf } from './type-of.ts';
import type { WatchedResource } from './resource.ts';

/** Follows our kinds in one namespace, or in all. */
export class Watched {
  readonly #informers: Informer<WatchedResource>[];

  constructor(options: { port: KubePort; clock: Clock; random: Random; namespace: string | undefined }) {
    const { namespace, ...rest } = options;
    this.#informers = KINDS.map(
      (definition) =>
        new Informer<WatchedResource>({
          ...rest,
          type: typeOf(definition),
          ...(namespace === undefined ? {} : { namespaces: [namespace] }),
        }),
    );
  }

  /** Follows until the signal says so, and calls `changed` at each change, and once everything is read. */
  async follow(signal: AbortSignal, changed: () => void): Promise<void> {
    for (const informer of this.#informers) informer.onChange(changed);
    const following = this.#informers.map((informer) => informer.start(signal));
    void Promise.all(this.#informers.map(({ synced }) => synced)).then(changed);
    await Promise.all(following);
  }

  /** Whether the first list of every kind is in. */
  get hasSynced(): boolean {
    return this.#informers.every(({ hasSynced }) => hasSynced);
  }

  /** What is there, kinds in their order, then by name. */
  resources(): WatchedResource[] {
    return this.#informers.flatMap((informer) =>
      informer
        .list()
        .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
        .map((resource) => ({ ...resource, kind: informer.type.kind })),
    );
  }
}
