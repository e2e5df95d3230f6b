import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kubeConfigAccess, loadKubeConfig } from './kubeconfig.ts';

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
      code: 'KubeCredentials',
    });
    await expect(loadKubeConfig({ file: join(folder, 'missing') })).rejects.toThrow(/missing cannot be read/);
    const { source } = await loadKubeConfig({
      text: config({
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: join(folder, 'no-plugin') },
      }),
    });
    await expect(source.access(false)).rejects.toThrow(/look at the kubeconfig's user/);
  });

  it('refuses plain http and proxies instead of sending a token there', async () => {
    const plain = await loadKubeConfig({ text: config({ token: 't' }, { server: 'http://10.0.0.1' }) });
    await expect(plain.source.access(false)).rejects.toMatchObject({ code: 'KubeCredentials' });
    const proxied = await loadKubeConfig({
      text: config({ token: 't' }, { 'proxy-url': 'http://proxy:3128' }),
    });
    await expect(proxied.source.access(false)).rejects.toThrow(/proxy-url/);
  });
});
