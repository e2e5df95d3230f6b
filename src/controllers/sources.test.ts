import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { MemoryBudget } from '../base/memory-budget.ts';
import { CONFIG_MAPS, Informer, KubeClient, type KubeAnswer, type StoredObject } from '../kube/index.ts';
import { answer, refusal, ScriptedPort } from '../../test/support/scripted-port.ts';
import { readSecretSelector, type SecretSelector } from './secret-policy.ts';
import { credentialsIn } from './connection/credentials.ts';
import { KubeSources, type SourceRef } from './sources.ts';

const ref = (key: string, kind: SourceRef['kind'] = 'Secret'): SourceRef => ({ kind, name: 'db', key });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Sources over a port that answers every read so; `secret` changes what the Secret holds. */
function make(
  first: KubeAnswer | Record<string, string>,
  more: { type?: string; secretSelector?: SecretSelector; own?: ReadonlySet<string> } = {},
) {
  const clock = new VirtualClock();
  const port = new ScriptedPort();
  let now = first;
  port.onRequest = () =>
    'status' in now && typeof now.status === 'number'
      ? (now as KubeAnswer)
      : answer(200, {
          metadata: { name: 'db', namespace: 'shop', uid: 'u', resourceVersion: '1' },
          ...(more.type === undefined ? {} : { type: more.type }),
          data: now,
        });
  const configMaps = new Informer<StoredObject>({ port, type: CONFIG_MAPS, clock, random: () => 0.5 });
  const kube = new KubeClient(port, { clock, random: () => 0.5 });
  const memory = new MemoryBudget({ capacity: 60_000_000, clock });
  const sources = new KubeSources({
    kube,
    clock,
    configMaps,
    memory,
    secretSelector: more.secretSelector,
    own: more.own,
  });
  const read = async (key: string, options = {}, kind: SourceRef['kind'] = 'Secret'): Promise<string> => {
    const content = await sources.read('shop', ref(key, kind), options);
    return content.kind === 'found' ? Buffer.from(content.bytes).toString() : content.message;
  };
  return { clock, port, sources, memory, configMaps, read, secret: (next: typeof now) => (now = next) };
}

describe('a key of a Secret', () => {
  it('is found, or said to lack what it lacks', async () => {
    const { read } = make({ password: base64('hunter22') });
    expect(await read('password')).toBe('hunter22');
    expect(await read('user')).toBe('Secret "db" has no key "user"');
    expect(await read('constructor')).toBe('Secret "db" has no key "constructor"');
    expect(await make(refusal(404, 'NotFound')).read('x')).toBe('Secret "db" does not exist');
  });

  it('that may not be read names the right that is missing', async () => {
    const { read, secret } = make(refusal(403, 'Forbidden'));
    expect(await read('x')).toBe('the operator may not read Secret "db": grant it get in this namespace');
    secret({ x: base64('granted') });
    expect(await read('x')).toBe('granted');
  });

  it('that is too large is not handed on', async () => {
    const { read } = make({ big: base64('x'.repeat(1_048_577)) });
    expect(await read('big')).toBe('key "big" of Secret "db" holds more than 1 MiB');
  });
});

// S10.
describe('a Secret that is none of the operator’s business', () => {
  it.each([
    [{ type: 'kubernetes.io/service-account-token' }, 'has the type kubernetes.io/service-account-token'],
    [{ secretSelector: readSecretSelector('use=boxwright') }, 'does not have the label use=boxwright'],
    [{ own: new Set(['shop/db']) }, 'belongs to the operator'],
  ])('gives nothing, neither as content nor as a login', async (more, why) => {
    const { read, sources } = make({ token: base64('CANARY') }, more);
    expect(await read('token')).toContain(`Secret "db" ${why}`);
    const whole = await sources.secret('shop', 'db');
    expect(whole).toMatchObject({ data: {}, refused: expect.stringContaining(why) as string });
    expect(credentialsIn('db', whole)).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining(why) as string,
    });
  });
});

describe('reads of one Secret', () => {
  it('go on for who joined when the first who asked gives up, and end for who gives up', async () => {
    const { sources, port } = make({});
    const { promise, resolve } = Promise.withResolvers<KubeAnswer>();
    port.onRequest = () => promise;
    const first = new AbortController();
    const [a, b] = [sources.read('shop', ref('a'), { signal: first.signal }), sources.read('shop', ref('a'))];
    first.abort(new Error('the first gave up'));
    await expect(a).rejects.toThrow('the first gave up');
    resolve(answer(200, { metadata: { name: 'db', namespace: 'shop' }, data: { a: base64('one') } }));
    expect(await b).toMatchObject({ kind: 'found' });
  });

  it('that fall together are one, for a second', async () => {
    const { read, port, secret, clock } = make({ a: base64('one') });
    expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual([
      'one',
      'one',
      'Secret "db" has no key "b"',
    ]);
    expect(port.requests).toHaveLength(1);
    secret({ a: base64('two') });
    expect(await read('a')).toBe('one');
    await clock.advance(1_001);
    expect(await read('a')).toBe('two');
  });

  it('join none that began before the change that they are for, and share those after it', async () => {
    const { read, port, secret, sources } = make({ a: base64('one') });
    await read('a');
    secret({ a: base64('two') });
    const after = sources.mark();
    expect(await Promise.all([read('a', { after }), read('a', { after })])).toEqual(['two', 'two']);
    expect(port.requests).toHaveLength(2);
    expect(await read('a')).toBe('two');
    expect(port.requests).toHaveLength(2);
  });

  it('join none that began before the Secret is known to have changed', async () => {
    const { read, secret, sources } = make({ a: base64('one') });
    await read('a');
    secret({ a: base64('two') });
    sources.forgetSecret('shop', 'db');
    expect(await read('a')).toBe('two');
  });

  it('that failed are not shared with who comes later', async () => {
    const { read, secret } = make(refusal(403, 'Forbidden'));
    await read('a');
    secret({ a: base64('granted') });
    expect(await read('a')).toBe('granted');
  });

  it('are let go on time, though nobody reads any more', async () => {
    const { read, clock } = make({ a: base64('one') });
    await Promise.all([read('a'), read('b')]);
    const letGo = clock.untilNext();
    expect(letGo).toBeGreaterThan(0);
    expect(letGo).toBeLessThanOrEqual(1_000);
    await clock.advance(1_000);
    expect(clock.untilNext()).toBeUndefined();
  });

  it('for credentials are never shared', async () => {
    const { secret, sources } = make({ token: base64('one') });
    await sources.secret('shop', 'db');
    secret({ token: base64('two') });
    expect((await sources.secret('shop', 'db'))?.data).toEqual({ token: Buffer.from('two') });
  });
});

it('a ConfigMap that is not followed yet is read each time', async () => {
  const { read, port, secret } = make({ conf: 'one' });
  expect(await read('conf', {}, 'ConfigMap')).toBe('one');
  secret({ conf: 'two' });
  expect(await read('conf', {}, 'ConfigMap')).toBe('two');
  expect(port.requests).toHaveLength(2);
});

/** So many keys. */
function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x']));
}

/** A hash as good as any for a test, and what it is asked for. */
function counting(name: string): { hash: (bytes: Uint8Array) => string; of: string[] } {
  const of: string[] = [];
  const hash = (bytes: Uint8Array): string => {
    const text = Buffer.from(bytes).toString();
    if (text !== '') of.push(text);
    return `${name}:${text.slice(0, 10)}`;
  };
  return { hash, of };
}

const configMap = (resourceVersion: string): StoredObject =>
  ({ metadata: { name: 'db', namespace: 'shop', uid: 'u', resourceVersion } }) as StoredObject;
const hashOf = async (
  { sources }: ReturnType<typeof make>,
  key: string,
  { hash }: ReturnType<typeof counting>,
): Promise<string> => {
  const content = await sources.hashed('shop', ref(key, 'ConfigMap'), hash);
  return content.kind === 'found' ? `${content.hash} ${content.size}` : content.message;
};

// S3, R7
describe('the contents of ConfigMaps', () => {
  it('are read and hashed once, whichever keys are asked for, until the ConfigMap changes', async () => {
    const world = make({ a: 'one', b: 'two' });
    world.configMaps.remember(configMap('1'));
    const counted = counting('h');
    expect(await hashOf(world, 'a', counted)).toBe('h:one 3');
    expect(await hashOf(world, 'b', counted)).toBe('h:two 3');
    expect(await hashOf(world, 'c', counted)).toBe('ConfigMap "db" has no key "c"');
    expect(world.port.requests).toHaveLength(1);
    world.configMaps.remember(configMap('2'));
    world.secret({ a: 'three' });
    expect(await hashOf(world, 'a', counted)).toBe('h:three 5');
    expect(world.port.requests).toHaveLength(2);
  });

  it('are hashed apart by each hash: what belongs to one resource says nothing of another', async () => {
    const world = make({ a: 'one' });
    world.configMaps.remember(configMap('1'));
    expect(await hashOf(world, 'a', counting('h'))).toBe('h:one 3');
    expect(await hashOf(world, 'a', counting('other'))).toBe('other:one 3');
    expect(await hashOf(world, 'a', counting('h'))).toBe('h:one 3');
    expect(world.port.requests).toHaveLength(2);
  });

  it('are let go at once, and count while they are in hand', async () => {
    const world = make({ a: 'x'.repeat(1_000_000) });
    await hashOf(world, 'a', counting('h'));
    expect(world.memory.heldFor('contents')).toBe(0);
    const content = await world.sources.open('shop', ref('a', 'ConfigMap'));
    expect(world.memory.heldFor('contents')).toBeGreaterThan(1_000_000);
    if (content.kind === 'found') content.release();
    expect(world.memory.heldFor('contents')).toBe(0);
  });

  // A megabyte holds 90,000 empty ones: hashing them takes a second, and keeping the hashes the memory.
  it('are not looked into where there are more keys than anybody means', async () => {
    const world = make(many(5_001));
    const counted = counting('h');
    expect(await hashOf(world, 'k0', counted)).toBe('ConfigMap "db" has more than 5000 keys: split it');
    expect(counted.of).toEqual([]);
    expect(await world.read('k0')).toBe('Secret "db" has more than 5000 keys: split it');
    world.secret(many(5_000));
    expect(await hashOf(world, 'k0', counted)).toBe('h:x 1');
  });

  it('stay known, however many another namespace has', async () => {
    const data = many(5_000);
    const world = make(data);
    const of = async (namespace: string, name: string): Promise<void> => {
      world.port.onRequest = () =>
        answer(200, { metadata: { name, namespace, uid: name, resourceVersion: '1' }, data });
      world.configMaps.remember({
        metadata: { name, namespace, uid: name, resourceVersion: '1' },
      } as StoredObject);
      await world.sources.hashed(namespace, { kind: 'ConfigMap', name, key: 'k0' }, counting('h').hash);
    };
    await of('small', 'conf');
    for (let i = 0; i < 9; i++) await of('big', `conf-${i}`);
    const before = world.port.requests.length;
    await of('small', 'conf');
    expect(world.port.requests).toHaveLength(before);
    await of('big', 'conf-0');
    expect(world.port.requests).toHaveLength(before + 1);
  });

  it('wait for room, and say so where there is none in time', async () => {
    const world = make({ a: 'one' });
    const full = world.memory.share('shop').open('contents');
    full.trySet(19_000_000);
    const reading = world.sources.hashed('shop', ref('a', 'ConfigMap'), counting('h').hash);
    await world.clock.advance(20_000);
    expect(await reading).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('ConfigMap "db" is not read now'),
      recheckAfterMs: 30_000,
    });
    const later = hashOf(world, 'a', counting('h'));
    full.release();
    expect(await later).toBe('h:one 3');
  });
});
