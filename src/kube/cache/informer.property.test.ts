import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { FakeKube } from '../../../test/support/fake-kube.ts';
import { KubeClient } from '../client.ts';
import { KubeApiError } from '../errors.ts';
import { keyOf, refOf, type StoredObject } from '../object.ts';
import { CONFIG_MAPS } from '../types.ts';
import { Informer } from './informer.ts';
import { isOlder } from './version.ts';

type ConfigMap = StoredObject & { data?: Record<string, string> };

const name = fc.constantFrom('a', 'b');
/** When the cache is given the answer of a write: at once, later, or never. */
const rememberAfterMs = fc.constantFrom(0, 0, 500, undefined);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('create' as const), name, held: fc.boolean(), rememberAfterMs }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), name, rememberAfterMs }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), name, rememberAfterMs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 100, 1_000, 400_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('interrupt' as const),
      how: fc.constantFrom('end' as const, 'break' as const),
    }),
  },
  // Enough elsewhere for the next resume to be told 410.
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
);
/** How long watch lines and lists are on their way. */
const lags = fc.record({ watchMs: fc.constantFrom(0, 50, 3_000), listMs: fc.constantFrom(0, 50, 3_000) });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Lags = typeof lags extends fc.Arbitrary<infer L> ? L : never;

/** An informer on a fake API server, with what has to be true of it after each step. */
class World {
  readonly clock = new VirtualClock();
  readonly fake = new FakeKube({ clock: this.clock, namespaces: ['shop'], historyLimit: 12 });
  readonly client = new KubeClient(this.fake, { clock: this.clock, random: () => 0.5 });
  readonly informer = new Informer<ConfigMap>({
    port: {
      watch: (request) => this.fake.watch(request),
      request: async (request) => {
        const answer = await this.fake.request(request);
        await this.clock.sleep(this.#listMs, request.signal);
        return answer;
      },
    },
    type: CONFIG_MAPS,
    clock: this.clock,
    random: () => 0.5,
    labelSelector: 'watched=yes',
  });
  /** The own write that the cache was given last, by key. */
  readonly #floor = new Map<string, ConfigMap>();
  readonly #released = new Set<string>();
  readonly #lives = new Map<string, { state: 'living' | 'dead'; version: string }>();
  #count = 0;
  readonly problems: string[] = [];

  #listMs: number;

  constructor({ watchMs, listMs }: Lags) {
    this.fake.watchLagMs = watchMs;
    this.#listMs = listMs;
    this.informer.onChange((change) => this.#check(change.type, change.object));
  }

  async run(next: Step): Promise<void> {
    switch (next.do) {
      case 'create':
        return this.#write(next.rememberAfterMs, () =>
          this.client.create<ConfigMap>(CONFIG_MAPS, {
            metadata: {
              ...at(next.name),
              labels: { watched: 'yes' },
              ...(next.held ? { finalizers: ['test.example/hold'] } : {}),
            },
          }),
        );
      case 'change':
        return this.#write(next.rememberAfterMs, () =>
          this.client.mergePatch<ConfigMap>(CONFIG_MAPS, at(next.name), {
            data: { n: String(this.#count++) },
          }),
        );
      case 'release':
        return this.#write(next.rememberAfterMs, () =>
          this.client.mergePatch<ConfigMap>(CONFIG_MAPS, at(next.name), { metadata: { finalizers: null } }),
        );
      case 'delete':
        await this.client.delete(CONFIG_MAPS, at(next.name));
        return;
      case 'advance':
        return this.clock.advance(next.ms);
      case 'interrupt':
        this.fake.endWatches(next.how);
        return;
      case 'expire':
        for (let i = 0; i < 15; i++) this.fake.seed(CONFIG_MAPS, { metadata: at('other') });
        this.fake.endWatches('break');
    }
  }

  /** What must hold at every moment. */
  check(): void {
    for (const [key, { metadata }] of this.#floor) {
      if (this.fake.get(CONFIG_MAPS, refOf(key))?.metadata.uid !== metadata.uid) continue;
      const seen = this.informer.get(key)?.metadata;
      if (seen?.uid !== metadata.uid || isOlder(seen.resourceVersion, metadata.resourceVersion)) {
        this.problems.push(
          `${key} is shown as ${seen?.resourceVersion}, written was ${metadata.resourceVersion}`,
        );
      }
    }
    for (const { metadata } of this.informer.list()) {
      if (this.#released.has(metadata.uid)) this.problems.push(`${metadata.uid} is back`);
    }
  }

  /** What must hold once all is quiet. */
  async quiet(): Promise<void> {
    this.fake.watchLagMs = 0;
    this.#listMs = 0;
    await this.clock.advance(600_000);
    const stored = this.fake.list(CONFIG_MAPS).filter((object) => object.metadata.name !== 'other');
    const living = [...this.#lives].filter(([, life]) => life.state === 'living').map(([uid]) => uid);
    const shown = versions(this.informer.list());
    if (shown !== versions(stored)) this.problems.push(`shown ${shown}, stored ${versions(stored)}`);
    if (
      living.toSorted().join() !==
      stored
        .map((object) => object.metadata.uid)
        .toSorted()
        .join()
    ) {
      this.problems.push(`told of ${living.join()}, stored ${versions(stored)}`);
    }
  }

  async #write(afterMs: number | undefined, write: () => Promise<ConfigMap>): Promise<void> {
    let answer: ConfigMap;
    try {
      answer = await write();
    } catch (error) {
      if (error instanceof KubeApiError && (error.isNotFound || error.isAlreadyExists)) return;
      throw error;
    }
    if (afterMs === 0) this.#remember(answer);
    else if (afterMs !== undefined) this.clock.setTimer(afterMs, () => this.#remember(answer));
  }

  #remember(answer: ConfigMap): void {
    this.informer.remember(answer);
    const { metadata } = answer;
    const isGone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const before = this.#floor.get(keyOf(metadata))?.metadata.resourceVersion;
    if (isGone) this.#released.add(metadata.uid);
    else if (!isOlder(metadata.resourceVersion, before)) this.#floor.set(keyOf(metadata), answer);
  }

  /** Each object is added once, then updated to newer versions, then deleted once. */
  #check(type: 'added' | 'updated' | 'deleted', { metadata }: ConfigMap): void {
    const life = this.#lives.get(metadata.uid);
    if (life?.state !== (type === 'added' ? undefined : 'living')) {
      this.problems.push(`${metadata.uid}: ${type} when it was ${life?.state}`);
    }
    if (life !== undefined && isOlder(metadata.resourceVersion, life.version)) {
      this.problems.push(`${metadata.uid}: ${type} from ${life.version} back to ${metadata.resourceVersion}`);
    }
    this.#lives.set(metadata.uid, {
      state: type === 'deleted' ? 'dead' : 'living',
      version: metadata.resourceVersion,
    });
  }
}

/** Names, uids and versions as one text, for comparing. */
function versions(
  objects: readonly { metadata: { name: string; uid: string; resourceVersion: string } }[],
): string {
  return objects
    .map(({ metadata }) => `${metadata.name}/${metadata.uid}@${metadata.resourceVersion}`)
    .toSorted()
    .join();
}

const at = (objectName: string) => ({ namespace: 'shop', name: objectName });

describe('Informer under any order of writes, lags and interruptions', () => {
  it('never hides an own write, never revives an object, and ends up with what is stored', async () => {
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(lags, fc.array(step, { minLength: 5, maxLength: 40 }), async (lag, steps) => {
        const world = new World(lag);
        const controller = new AbortController();
        const running = world.informer.start(controller.signal);
        try {
          await settle();
          for (const next of steps) {
            await world.run(next);
            world.check();
          }
          await world.quiet();
          expect(world.problems).toEqual([]);
        } finally {
          controller.abort(new Error('test over'));
          await running;
        }
      }),
      { numRuns: 200 },
    );
  });
});
