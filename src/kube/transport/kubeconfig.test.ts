import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kubeConfigAccess, loadKubeConfig } from './kubeconfig.ts';

/** Where the tests themselves run in a cluster, that is a cluster to be found. */
const IN_POD = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function config(user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', namespace: 'shop' } },
      { name: 'broken', context: { cluster: 'none', user: 'u' } },
    ],
    'current-context': 'main',
  });
}

/** Writes a kubeconfig whose cluster, context and server have this name. */
function named(name: string, others: object = {}): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name, cluster: { server: `https://${name}` } }],
      contexts: [{ name, context: { cluster: name } }],
      'current-context': name,
      ...others,
    }),
  );
  return file;
}

describe('loadKubeConfig', () => {
  it('reads server, namespace, token and TLS material', async () => {
    const text = config(
      { token: 'secret' },
      { 'certificate-authority-data': Buffer.from('PEM').toString('base64'), 'tls-server-name': 'kube' },
    );
    const loaded = await loadKubeConfig({ text });
    expect(loaded).toMatchObject({ server: 'https://127.0.0.1:6443', context: 'main', namespace: 'shop' });
    expect(await loaded.source.access(false)).toEqual({
      server: 'https://127.0.0.1:6443',
      headers: { authorization: 'Bearer secret' },
      tls: { ca: 'PEM', servername: 'kube' },
    });
  });

  it('reads rotated certificates at each look, and a rotated token at a fresh one', async () => {
    const file = join(folder, 'config');
    const cert = join(folder, 'client.crt');
    const key = join(folder, 'client.key');
    writeFileSync(cert, 'cert 1');
    writeFileSync(key, 'key 1');
    writeFileSync(
      file,
      config({ token: 'one', 'client-certificate': 'client.crt', 'client-key': 'client.key' }),
    );
    const { source } = await loadKubeConfig({ file });
    expect((await source.access(false)).tls).toEqual({ cert: 'cert 1', key: 'key 1' });
    writeFileSync(cert, 'cert 2');
    writeFileSync(key, 'key 2');
    writeFileSync(
      file,
      config({ token: 'two', 'client-certificate': 'client.crt', 'client-key': 'client.key' }),
    );
    expect(await source.access(false)).toMatchObject({
      headers: { authorization: 'Bearer one' },
      tls: { cert: 'cert 2', key: 'key 2' },
    });
    expect((await source.access(true)).headers).toEqual({ authorization: 'Bearer two' });
  });

  it('reads a rotated service-account token past the cache of the plugin, without its line feed', async () => {
    const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
    const tokenFile = join(folder, 'token');
    const source = kubeConfigAccess(() => {
      const inPod = new KubeConfig();
      inPod.loadFromClusterAndUser(
        { name: 'c', server: 'https://127.0.0.1', skipTLSVerify: false },
        { name: 'u', authProvider: { name: 'tokenFile', config: { tokenFile } } },
      );
      return inPod;
    });
    writeFileSync(tokenFile, 'one\n');
    expect((await source.access(false)).headers).toEqual({ authorization: 'Bearer one' });
    writeFileSync(tokenFile, 'two\n');
    expect((await source.access(true)).headers).toEqual({ authorization: 'Bearer two' });
  });

  it('sends a user name and password as basic authentication', async () => {
    const { source } = await loadKubeConfig({ text: config({ username: 'me', password: 'pw' }) });
    expect((await source.access(false)).headers).toEqual({ authorization: `Basic ${btoa('me:pw')}` });
  });

  it('names the contexts there are when the wanted one is missing', async () => {
    await expect(loadKubeConfig({ text: config({}), context: 'other' })).rejects.toThrow(
      /no context "other"; it has main, broken/,
    );
  });

  it('says so when a context names no cluster, a file cannot be read, or a plugin fails', async () => {
    await expect(loadKubeConfig({ text: config({}), context: 'broken' })).rejects.toMatchObject({
      name: 'KubeConfigError',
      message: expect.stringContaining('context "broken" names no cluster'),
    });
    await expect(loadKubeConfig({ file: join(folder, 'missing') })).rejects.toMatchObject({
      option: 'file',
      message: expect.stringContaining('missing: there is no such file'),
    });
    const { source } = await loadKubeConfig({
      text: config({
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: join(folder, 'no-plugin') },
      }),
    });
    await expect(source.access(false)).rejects.toThrow(/look at the kubeconfig's user/);
  });

  it('refuses plain http instead of sending a token there', async () => {
    const plain = loadKubeConfig({ text: config({ token: 't' }, { server: 'http://10.0.0.1' }) });
    await expect(plain).rejects.toThrow('http://10.0.0.1 is not https');
  });

  it('reads proxy-url, and says of a kind that is not supported what to write, without its credentials', async () => {
    const loaded = await loadKubeConfig({
      text: config({ token: 't' }, { 'proxy-url': 'http://me:CANARY@proxy:3128' }),
    });
    expect(loaded.proxy?.address).toBe('proxy:3128');
    expect((await loaded.source.access(false)).proxy?.address).toBe('proxy:3128');
    const socks = loadKubeConfig({ text: config({}, { 'proxy-url': 'socks5://me:CANARY@proxy' }) });
    await expect(socks).rejects.toThrow(/proxy-url of cluster c names a proxy of kind socks5.*; write http:/);
    await expect(socks).rejects.not.toThrow('CANARY');
  });

  it('tells nothing of what stands around a mistake in the file', async () => {
    const file = join(folder, 'config');
    for (const text of ['users: [{token: CANARY}\n', '"CANARY', 'users: *CANARY', 'clusters: {CANARY: 1}']) {
      writeFileSync(file, text);
      const error: unknown = await loadKubeConfig({ file }).catch((caught: unknown) => caught);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('CANARY');
      expect(error).toMatchObject({ name: 'KubeConfigError' });
    }
  });

  describe('without a file', () => {
    it('takes those of KUBECONFIG together, the first current context, and lets some be missing', async () => {
      const list = [
        join(folder, 'missing'),
        named('a', { 'current-context': undefined }),
        named('b'),
        named('c'),
      ];
      const env = { KUBECONFIG: list.join(delimiter), HOME: folder };
      expect(await loadKubeConfig({ env })).toMatchObject({ server: 'https://b' });
      expect(await loadKubeConfig({ env, context: 'c' })).toMatchObject({ server: 'https://c' });
      await expect(loadKubeConfig({ env: { KUBECONFIG: join(folder, 'missing') } })).rejects.toThrow(
        /^KUBECONFIG=\S+missing: there is no such file/,
      );
    });

    it('takes clusters of one file and users of another, whichever comes first', async () => {
      const [clusters, users] = [
        named('clusters', { users: [], contexts: [], 'current-context': undefined }),
        named('users', {
          clusters: [],
          contexts: [{ name: 'here', context: { cluster: 'clusters', user: 'users' } }],
          'current-context': 'here',
        }),
      ];
      for (const list of [
        [clusters, users],
        [users, clusters],
      ]) {
        const env = { KUBECONFIG: list.join(delimiter), HOME: folder };
        expect(await loadKubeConfig({ env })).toMatchObject({ server: 'https://clusters', context: 'here' });
      }
      await expect(loadKubeConfig({ env: { KUBECONFIG: users } })).rejects.toThrow('no clusters in it');
    });

    it('takes the one of the home folder', async () => {
      mkdirSync(join(folder, '.kube'));
      named('.kube/config', { clusters: [{ name: '.kube/config', cluster: { server: 'https://home' } }] });
      expect(await loadKubeConfig({ env: { HOME: folder, KUBECONFIG: '' } })).toMatchObject({
        server: 'https://home',
      });
    });

    it.skipIf(IN_POD)('says that there is none', async () => {
      await expect(loadKubeConfig({ env: { HOME: folder } })).rejects.toThrow(/^no cluster is named/);
    });
  });
});
