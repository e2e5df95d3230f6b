import { beforeEach, describe, expect, it } from 'vitest';
import { FakeKube } from '../../test/support/fake-kube.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import {
  CONFIG_MAPS,
  KubeClient,
  SECRETS,
  type KubeAnswer,
  type KubeObject,
  type KubePort,
  type KubeRequest,
} from '../kube/index.ts';
import {
  AUTHORITIES_CONFIG_MAP,
  INSTALLATION_CONFIG_MAP,
  loadIdentity,
  type Identity,
  type InstallationOptions,
} from './installation.ts';
import { Digest } from './digest.ts';
import { DIGEST_SECRET, DigestKeyError } from './keys.ts';

const HOME = 'boxwright-system';
const MAP = { namespace: HOME, name: INSTALLATION_CONFIG_MAP };
const SECRET = { namespace: HOME, name: DIGEST_SECRET };
const ROOT = { namespace: HOME, name: AUTHORITIES_CONFIG_MAP };
const key = (byte: number, length = 32): string => Buffer.alloc(length, byte).toString('base64');

describe('an installation', () => {
  let kube: FakeKube;
  /** Sees each request first. */
  let before: (request: KubeRequest) => void;
  let client: KubeClient;
  beforeEach(() => {
    const clock = new VirtualClock();
    kube = new FakeKube({ clock, namespaces: [HOME] });
    before = () => undefined;
    const port: KubePort = {
      request: (request): Promise<KubeAnswer> => {
        before(request);
        return kube.request(request);
      },
      watch: (request) => kube.watch(request),
    };
    client = new KubeClient(port, { clock, random: () => 0.5 });
  });

  const load = (more: Partial<InstallationOptions> = {}): Promise<Identity> =>
    loadIdentity({ kube: client, namespace: HOME, hasRecords: () => false, ...more });
  const dataOf = (type: typeof SECRETS, ref: typeof SECRET): Record<string, string> =>
    (kube.get(type, ref) as { data?: Record<string, string> } | undefined)?.data ?? {};
  const doubt = async (more: Partial<InstallationOptions> = {}): Promise<string | undefined> =>
    (await load(more)).installation.unconfirmed;

  it('is made once, with its key, and is the same for every process after that', async () => {
    const first = await load();
    expect(first.installation).toMatchObject({ unconfirmed: undefined, isBorrowed: false });
    expect(Buffer.from(dataOf(SECRETS, SECRET)['key'] ?? '', 'base64')).toHaveLength(32);
    const second = await load({ hasRecords: () => true });
    expect(second.installation).toEqual(first.installation);
    expect(second.keys.digest.keyId).toBe(first.keys.digest.keyId);
    const version = kube.get(CONFIG_MAPS, MAP)?.metadata.resourceVersion;
    await load();
    expect(kube.get(CONFIG_MAPS, MAP)?.metadata.resourceVersion).toBe(version);
  });

  it.each(['configmaps', 'secrets'])(
    'is that of the quicker one when two processes make its %s',
    async (plural) => {
      let raced = false;
      before = (request) => {
        if (request.method !== 'POST' || raced || !request.path.endsWith(plural)) return;
        raced = true;
        const { metadata } = request.body as { metadata: object };
        const data = plural === 'secrets' ? { key: key(7) } : { id: 'theirs' };
        kube.handle({ ...request, body: { ...(request.body as object), metadata, data } });
      };
      const { installation, keys } = await load();
      expect(installation.unconfirmed).toBeUndefined();
      const theirs = plural === 'secrets' ? new Digest(Buffer.alloc(32, 7)).keyId : 'theirs';
      expect([installation.id, keys.digest.keyId]).toContain(theirs);
    },
  );

  it.each([{ data: {} }, { data: { key: '' } }])(
    'fills its key into a Secret with $data',
    async ({ data }) => {
      await client.create(SECRETS, { metadata: SECRET, data: { ...data, other: 'eA==' } });
      const { keys } = await load();
      expect(new Digest(Buffer.from(dataOf(SECRETS, SECRET)['key'] ?? '', 'base64')).keyId).toBe(
        keys.digest.keyId,
      );
      expect(dataOf(SECRETS, SECRET)['other']).toBe('eA==');
    },
  );

  it('does not use a key that is so short that it could be guessed', async () => {
    await client.create(SECRETS, { metadata: SECRET, data: { key: key(7, 4) } });
    const failure = await load().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DigestKeyError);
    expect((failure as Error).message).toMatch(/"boxwright-digest-key".* 4 bytes.*--installation-id/);
    expect((failure as Error).message).not.toContain(key(7, 4));
  });

  it('that was made by an older version is taken over as it is', async () => {
    await client.create(SECRETS, { metadata: SECRET, data: { key: key(7) } });
    const made = await client.create<KubeObject>(CONFIG_MAPS, { metadata: MAP, data: { id: 'older' } });
    await client.mergePatch(CONFIG_MAPS, MAP, { data: { uid: made.metadata.uid } });
    expect((await load({ hasRecords: () => true })).installation).toMatchObject({
      id: 'older',
      unconfirmed: undefined,
    });
    expect(dataOf(CONFIG_MAPS, MAP)['key']).toBe(new Digest(Buffer.alloc(32, 7)).keyId);
  });

  it('whose ConfigMap is gone is confirmed by hand while status names records, or the key is there', async () => {
    const { installation } = await load();
    await client.delete(CONFIG_MAPS, MAP);
    expect(await doubt()).toContain(DIGEST_SECRET);
    await client.delete(SECRETS, SECRET);
    expect(await doubt({ hasRecords: () => true })).toContain('--installation-id');
    expect(kube.get(SECRETS, SECRET)).toBeUndefined();
    expect((await load()).installation.id).not.toBe(installation.id);
  });

  it('whose ConfigMap was copied is confirmed by hand', async () => {
    await load();
    const data = dataOf(CONFIG_MAPS, MAP);
    await client.delete(CONFIG_MAPS, MAP);
    await client.create(CONFIG_MAPS, { metadata: MAP, data });
    expect(await doubt()).toContain('copied');
    expect((await load({ confirmedId: data['id'] ?? '' })).installation).toMatchObject({
      id: data['id'],
      unconfirmed: undefined,
      isBorrowed: false,
    });
    expect(await doubt()).toBeUndefined();
  });

  it('whose key is gone makes no other before that is confirmed, and then knows that another cluster may have it', async () => {
    const { installation } = await load();
    await client.delete(SECRETS, SECRET);
    expect(await doubt()).toContain(DIGEST_SECRET);
    expect(kube.get(SECRETS, SECRET)).toBeUndefined();
    const confirmed = { confirmedId: installation.id };
    expect((await load(confirmed)).installation).toMatchObject({ unconfirmed: undefined, isBorrowed: true });
    // It stays so over restarts, until an administrator says that a restore is what this is.
    expect((await load(confirmed)).installation.isBorrowed).toBe(true);
    expect((await load()).installation.isBorrowed).toBe(true);
    expect((await load({ restore: true })).installation).toMatchObject({ isBorrowed: false, restore: true });
    expect((await load()).installation).toMatchObject({ isBorrowed: false, restore: false });
  });

  it('with earlier keys in its Secret reads what they have sealed', async () => {
    const of = { installationId: 'i', kind: 'Box', namespace: 'n', name: 'n', uid: 'u' };
    const place = { endpoint: 'https://service.test', owner: 'ops' };
    const seal = (await load()).keys.seals.claim(of, 'r1', place);
    const data = { 'earlier-1': dataOf(SECRETS, SECRET)['key'], key: key(9) };
    await client.mergePatch(SECRETS, SECRET, { data });
    const { keys } = await load();
    expect(keys.seals.readClaim(seal, of, 'r1')).toMatchObject({ kind: 'holds', isCurrent: false });
  });

  const trust = async (...certificates: string[]): Promise<void> => {
    const data = { 'ca.crt': certificates.join('\n') };
    if (kube.get(CONFIG_MAPS, ROOT) === undefined) {
      await client.create(CONFIG_MAPS, { metadata: ROOT, data });
    } else await client.mergePatch(CONFIG_MAPS, ROOT, { data });
  };

  it('in a snapshot that runs on another cluster is confirmed by hand; a rotation with an overlap is none', async () => {
    await load();
    await trust(FIRST);
    expect(await doubt()).toBeUndefined();
    await trust(FIRST, SECOND);
    expect(await doubt()).toBeUndefined();
    await trust(SECOND);
    expect(await doubt()).toBeUndefined();
    await trust(FIRST);
    expect(await doubt()).toContain('certificates');
    const { id } = dataOf(CONFIG_MAPS, MAP);
    expect(await doubt({ confirmedId: id ?? '' })).toBeUndefined();
    expect(await doubt()).toBeUndefined();
  });
});

/** Certificates of nobody, without keys. */
const FIRST = `-----BEGIN CERTIFICATE-----
MIIBODCB66ADAgECAhR3IwYwmKqhNTxfGkjzEGW9J0zrbDAFBgMrZXAwETEPMA0G
A1UEAwwGdGVzdC0xMCAXDTI2MTEyOTA5MzgxMFoYDzIxMjYxMTA1MDkzODEwWjAR
MQ8wDQYDVQQDDAZ0ZXN0LTEwKjAFBgMrZXADIQB/QV+xjWKo4mY03CCHPC8Hl9dS
PePgiv95AIcqlhrpFqNTMFEwHQYDVR0OBBYEFCiP2bXpGwICut+37yB/ktu3P3cH
MB8GA1UdIwQYMBaAFCiP2bXpGwICut+37yB/ktu3P3cHMA8GA1UdEwEB/wQFMAMB
Af8wBQYDK2VwA0EAajn55W1iZ30FpKZnYaYbLe9mzXx7kGvmXG44AavKIxR+GZst
T78KAELWIYgbYM4w2Ux6Eo6alDsen8Xq0+KnAQ==
-----END CERTIFICATE-----`;
const SECOND = `-----BEGIN CERTIFICATE-----
MIIBODCB66ADAgECAhQyvWSiK9q19Zp2BLiA2jKzXY6UXzAFBgMrZXAwETEPMA0G
A1UEAwwGdGVzdC0yMCAXDTI2MTEyOTA5MzgxMFoYDzIxMjYxMTA1MDkzODEwWjAR
MQ8wDQYDVQQDDAZ0ZXN0LTIwKjAFBgMrZXADIQBni63AZBmXb6L+/v33s3ESiQ2A
DXHToCvaShZBrzRlu6NTMFEwHQYDVR0OBBYEFPA8/FibSXxm0elUpYdLUad+4Vai
MB8GA1UdIwQYMBaAFPA8/FibSXxm0elUpYdLUad+4VaiMA8GA1UdEwEB/wQFMAMB
Af8wBQYDK2VwA0EAU5ZUJFRTlrl09OTwTEnTsmuOoqwuXWvKHBvgvRhuv6z+qc8u
NPQdNOILVzUtw7bx1PW6Yc/9cQR/er2BBfoGCA==
-----END CERTIFICATE-----`;
