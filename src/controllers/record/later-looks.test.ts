import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { LaterLooks } from './later-looks.ts';
import type { Pass } from './kind.ts';
import type { Memory } from './memory.ts';
import type { ManagedResource } from './resource.ts';
import type { AnyRecord } from '../../service/index.ts';

type AnyPass = Pass<ManagedResource, AnyRecord, Memory>;

/** A pass over a resource whose manifest is as large as the API server takes it. */
function passOver(namespace: string, name: string): AnyPass {
  const metadata = {
    namespace,
    name,
    uid: name,
    annotations: { 'boxwright.dev/adopt': 'x'.repeat(100_000) },
  };
  const spec = { connectionRef: { name: 'main' }, variables: ['x'.repeat(800_000)], description: 'short' };
  return {
    resource: { metadata, spec, status: { observedGeneration: 1, id: 'r' } },
    marker: name,
    owner: 'ops',
    handle: { endpoint: 'https://service.test', poll: { lagWindowMs: 60_000 } },
    now: 0,
  } as unknown as AnyPass;
}

it('of thousands of large resources that are gone little is kept, and one namespace pushes none of another out', () => {
  const context = { clock: new VirtualClock() };
  const later = new LaterLooks(context as never, {} as never, {} as never);
  for (let i = 0; i < 100; i += 1) later.note(`shop/box-${i}`, passOver('shop', `box-${i}`), `id-${i}`);
  const own = later.held;
  expect(own).toBeLessThan(500_000);
  for (let i = 0; i < 5_000; i += 1) later.note(`evil/box-${i}`, passOver('evil', `box-${i}`), `id-${i}`);
  expect(later.held - own).toBeLessThan(10_000_000);
  const keys = Array.from({ length: 100 }, (_, i) => `shop/box-${i}`);
  expect(keys.filter((key) => later.isKept(key))).toEqual(keys);
  expect([later.isKept('evil/box-0'), later.isKept('evil/box-4999')]).toEqual([false, true]);
});
