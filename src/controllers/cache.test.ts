import { expect, it } from 'vitest';
import { weigh } from '../base/memory-budget.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ScriptedPort } from '../../test/support/scripted-port.ts';
import { CacheRoom } from './cache-room.ts';
import { KindCache } from './cache.ts';

const BOX = {
  apiVersion: 'boxwright.dev/v1alpha1',
  kind: 'Box',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', generation: 1 },
  spec: { connectionRef: { name: 'main' }, type: 'Script' },
};

function cacheWith(room: CacheRoom): KindCache<never> {
  return new KindCache('Box' as never, {
    room,
    port: new ScriptedPort(),
    clock: new VirtualClock(),
    random: () => 0.5,
  });
}

// An author may fill any part of a resource, and make as many as the API server takes.
it.each<[string, object]>([
  ['annotations of ours', { metadata: { annotations: { 'boxwright.dev/adopt': 'x'.repeat(250_000) } } }],
  ['labels', { metadata: { labels: Object.fromEntries(many((i) => [`l${i}`, 'x'.repeat(60)])) } }],
  ['finalizers', { metadata: { finalizers: many((i) => `example.com/${'x'.repeat(200)}${i}`) } }],
  ['owners', { metadata: { ownerReferences: many((i) => ({ kind: 'Pod', name: `p${i}`, uid: `u${i}` })) } }],
  ['spec', { spec: { description: 'x'.repeat(250_000) } }],
])('of a resource with large %s that there is no room for little is kept, and it says so', (_, more) => {
  const { metadata, spec } = more as { metadata?: object; spec?: object };
  const box = { ...BOX, metadata: { ...BOX.metadata, ...metadata }, spec: { ...BOX.spec, ...spec } };
  const cache = cacheWith(new CacheRoom({ large: 100_000, small: 100_000 }));
  cache.remember(box);
  const kept = cache.get('shop/web') as { problems?: { message: string }[]; spec?: unknown } | undefined;
  expect(kept?.problems?.[0]?.message).toContain('It takes more memory than the operator has');
  expect(kept?.spec).toMatchObject({ connectionRef: { name: 'main' } });
  expect(weigh(kept)).toBeLessThan(5_000);
});

it('what is one too many says so', () => {
  const cache = cacheWith(new CacheRoom({ large: 0, small: 8_000 }));
  cache.remember(BOX);
  const kept = cache.get('shop/web') as { problems?: { message: string }[] } | undefined;
  expect(kept?.problems?.[0]?.message).toContain('There are more resources than the operator has memory for');
});

function many<T>(make: (index: number) => T): T[] {
  return Array.from({ length: 4_000 }, (_, i) => make(i));
}
