import { KINDS } from '../../api/kinds.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { Informer, type KubePort } from '../../kube/index.ts';
import { rowOf, type Row, type WatchedResource } from './row.ts';

/** Follows our kinds in one namespace. */
export class Watched {
  readonly #informers: Informer<WatchedResource>[];
  readonly #clock: Clock;

  constructor(options: { port: KubePort; clock: Clock; random: Random; namespace: string }) {
    const { port, clock, random, namespace } = options;
    this.#clock = clock;
    this.#informers = KINDS.map(
      ({ group, version, plural, kind }) =>
        new Informer<WatchedResource>({
          port,
          clock,
          random,
          type: { group, version, plural, kind, namespaced: true },
          namespaces: [namespace],
        }),
    );
  }

  /** Follows until the signal says so, and calls `changed` at each change. */
  async follow(signal: AbortSignal, changed: () => void): Promise<void> {
    for (const informer of this.#informers) informer.onChange(changed);
    await Promise.all(this.#informers.map((informer) => informer.start(signal)));
  }

  /** What is there, kinds in their order, then by name. */
  rows(): Row[] {
    const now = this.#clock.now();
    return this.#informers.flatMap((informer) =>
      informer
        .list()
        .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
        .map((resource) => rowOf({ ...resource, kind: informer.type.kind }, now)),
    );
  }
}
