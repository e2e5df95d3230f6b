import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { KubeClient, SECRETS, type KubeAnswer, type KubePort, type KubeRequest } from '../kube/index.ts';
import { FakeKube } from '../../test/support/fake-kube.ts';
import { Digest, DIGEST_SECRET, DigestKeyError } from './digest.ts';

const HOME = 'boxwright-system';
const REF = { namespace: HOME, name: DIGEST_SECRET };
const key = (byte: number, length = 32): string => Buffer.alloc(length, byte).toString('base64');

/** An API server, and a client whose requests `before` sees first. */
function cluster(before: (request: KubeRequest, kube: FakeKube) => void = () => undefined): {
  kube: FakeKube;
  client: KubeClient;
} {
  const clock = new VirtualClock();
  const kube = new FakeKube({ clock, namespaces: [HOME] });
  const port: KubePort = {
    request: (request): Promise<KubeAnswer> => {
      before(request, kube);
      return kube.request(request);
    },
    watch: (request) => kube.watch(request),
  };
  return { kube, client: new KubeClient(port, { clock, random: () => 0.5 }) };
}

const stored = (kube: FakeKube): string => {
  const secret = kube.get(SECRETS, REF) as { data?: Record<string, string> } | undefined;
  return secret?.data?.['key'] ?? '';
};

describe('a keyed hash', () => {
  it('is the same for the same under one key, and tells its key', () => {
    const [one, same, other] = [1, 1, 2].map((byte) => new Digest(Buffer.alloc(32, byte)));
    expect(one?.of('variable', 'secret')).toBe(same?.of('variable', 'secret'));
    expect(one?.of('variable', 'secret')).not.toBe(other?.of('variable', 'secret'));
    expect(one?.knows(same?.of('x') ?? '')).toBe(true);
    expect(one?.knows(other?.of('x') ?? '')).toBe(false);
  });

  it('tells apart what is cut elsewhere, and gives away neither content nor key', () => {
    const digest = new Digest(Buffer.from('a key that nobody may ever see..'));
    expect(digest.of('ab', 'c')).not.toBe(digest.of('a', 'bc'));
    const text = digest.of('hunter22');
    expect(text).not.toContain('hunter22');
    expect(text).toMatch(/^[a-z2-7]{8}:[a-z2-7]{32}$/);
    expect(digest.keyId).not.toContain(Buffer.from('a key').toString('hex'));
  });
});

describe('the key', () => {
  it('is made once, and is the same for every process after that', async () => {
    const { kube, client } = cluster();
    const first = await Digest.load(client, HOME);
    expect(Buffer.from(stored(kube), 'base64')).toHaveLength(32);
    expect((await Digest.load(client, HOME)).keyId).toBe(first.keyId);
  });

  it('is that of the quicker one when two processes make it', async () => {
    let raced = false;
    const { kube, client } = cluster((request, server) => {
      if (request.method !== 'POST' || raced) return;
      raced = true;
      server.handle({
        ...request,
        body: { apiVersion: 'v1', kind: 'Secret', metadata: REF, data: { key: key(7) } },
      });
    });
    const digest = await Digest.load(client, HOME);
    expect(digest.keyId).toBe(new Digest(Buffer.alloc(32, 7)).keyId);
    expect(stored(kube)).toBe(key(7));
  });

  it.each([
    { what: 'without a key', data: {} },
    { what: 'with an empty one', data: { key: '' } },
  ])('is filled into a Secret $what', async ({ data }) => {
    const { kube, client } = cluster();
    await client.create(SECRETS, { metadata: REF, data: { ...data, other: 'eA==' } });
    const digest = await Digest.load(client, HOME);
    expect(new Digest(Buffer.from(stored(kube), 'base64')).keyId).toBe(digest.keyId);
    expect(kube.get(SECRETS, REF)).toMatchObject({ data: { other: 'eA==' } });
  });

  it('is not used when it is so short that it could be guessed', async () => {
    const { kube, client } = cluster();
    await client.create(SECRETS, { metadata: REF, data: { key: key(7, 4) } });
    const failure = await Digest.load(client, HOME).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DigestKeyError);
    expect((failure as Error).message).toMatch(
      /"boxwright-digest-key" in namespace "boxwright-system".* 4 bytes.*delete the Secret/,
    );
    expect((failure as Error).message).not.toContain(key(7, 4));
    expect(stored(kube)).toBe(key(7, 4));
  });
});
