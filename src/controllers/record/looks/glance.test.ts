import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import type { InstanceRecord, SharedReads } from '../../../service/index.ts';
import type { Pass, RecordKind } from '../kind.ts';
import { Memories, type Memory } from '../memory.ts';
import type { ManagedResource } from '../resource.ts';
import { Glances } from './glance.ts';

type Looker = Glances<ManagedResource, InstanceRecord, unknown, Memory<InstanceRecord>>;

const record = (state: string, seconds: string): InstanceRecord => ({
  id: 'i',
  state,
  updated: `2026-01-01 12:00:${seconds}`,
});

/** Waits for the end of what a record shows running. */
function waiting(): {
  memory: Memory<InstanceRecord>;
  held: WeakRef<object>;
  list: (entry: InstanceRecord) => void;
  woken: string[];
} {
  const woken: string[] = [];
  const kind = {
    listing: { family: 'instances', at: (owner: string) => owner },
    runs: ({ state }: InstanceRecord) => state === 'processing',
    ended: (entry: InstanceRecord) => (entry.state === 'done' ? entry : undefined),
  } as unknown as RecordKind<ManagedResource, InstanceRecord, unknown, Memory<InstanceRecord>>;
  const glances: Looker = new Glances(kind, (key) => void woken.push(key));
  const memory = new Memories<InstanceRecord>((base) => base, {
    clock: new VirtualClock(),
    random: () => 0,
  }).of('k', 'u');
  const running = record('processing', '05');
  memory.observed = { record: running, startedAt: 0, takeOver: false };
  const listeners: ((entry: InstanceRecord) => void)[] = [];
  const watch: SharedReads['watch'] = (_family, _at, _id, listener) => {
    listeners.push(listener);
    return () => void listeners.pop();
  };
  const pass = {
    resource: { metadata: { namespace: 'shop', name: 'web' } },
    memory,
    owner: 'shop',
    handle: { client: { shared: { watch } } },
  } as unknown as Pass<ManagedResource, InstanceRecord, Memory<InstanceRecord>>;
  glances.watch(pass, running);
  const list = (entry: InstanceRecord): void => listeners.forEach((listener) => listener(entry));
  return { memory, held: new WeakRef(running), list, woken };
}

it('an end is heard of once a list shows it, and not from one that trails', () => {
  const { list, woken } = waiting();
  list(record('done', '04'));
  list({ id: 'i', state: 'done' });
  list(record('processing', '06'));
  expect(woken).toEqual([]);
  list(record('done', '07'));
  expect(woken).toEqual(['shop/web']);
});

// A service may answer with ten megabytes for each of ten thousand: what is remembered of them is counted.
it('the wait for an end keeps no record in memory that is forgotten for want of room', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { memory, held, list, woken } = waiting();
  memory.observed = undefined;
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(held.deref()).toBeUndefined();
  list(record('done', '04'));
  list(record('processing', '06'));
  expect(woken).toEqual([]);
  list(record('done', '07'));
  expect(woken).toEqual(['shop/web']);
});
