import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ConfigReader } from './config-reader.ts';
import { kubeConfigAccess } from './kubeconfig.ts';
import { NotPlainError, PlainConfig } from './plain-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plain-config-'));
  for (const name of ['ca.crt', 'tls.crt', 'tls.key'])
    writeFileSync(join(folder, name), `content of ${name}`);
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Parts {
  user?: object;
  cluster?: object;
  context?: object;
  top?: object;
}

function kubeconfig({ user = { token: 't' }, cluster = {}, context = {}, top = {} }: Parts): string {
  return JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'main',
    ...top,
  });
}

const data = (text: string): string => Buffer.from(text).toString('base64');

async function readBy(reader: ConfigReader, text: string) {
  reader.loadFromString(text);
  reader.makePathsAbsolute(folder);
  const context = reader.getCurrentContext();
  return {
    access: await kubeConfigAccess(() => reader).access(false),
    context: { namespace: undefined, ...reader.getContextObject(context) },
    contexts: reader.getContexts().map(({ name }) => name),
    clusters: reader.getClusters().map(({ name, server }) => ({ name, server })),
  };
}

describe('a plain kubeconfig is read as client-node reads it', () => {
  it.each<[string, Parts]>([
    ['a token', {}],
    [
      'certificates as data',
      { user: { 'client-certificate-data': data('cert'), 'client-key-data': data('key') } },
    ],
    ['certificates in files', { user: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' } }],
    [
      'files before data',
      { cluster: { 'certificate-authority': 'ca.crt', 'certificate-authority-data': data('x') } },
    ],
    ['an authority as data', { cluster: { 'certificate-authority-data': data('ca') } }],
    ['a name for TLS', { cluster: { 'tls-server-name': 'kube' } }],
    ['no look at the certificate', { cluster: { 'insecure-skip-tls-verify': true } }],
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy:3128' } }],
    ['a namespace', { context: { namespace: 'shop' } }],
    ['empty fields', { cluster: { 'certificate-authority-data': '', 'tls-server-name': null } }],
    ['a user with nothing', { user: {} }],
    ['extensions', { cluster: { extensions: [{ name: 'x' }] }, top: { preferences: {}, kind: 'Config' } }],
  ])('with %s', async (_, parts) => {
    const text = kubeconfig(parts);
    expect(await readBy(new PlainConfig(parse, {}), text)).toEqual(await readBy(new KubeConfig(), text));
  });
});

describe('is left to client-node', () => {
  it.each<[string, string]>([
    ['a program', kubeconfig({ user: { exec: { command: 'aws' } } })],
    ['an identity provider', kubeconfig({ user: { 'auth-provider': { name: 'oidc' } } })],
    ['a token file', kubeconfig({ user: { 'token-file': '/token' } })],
    ['a password', kubeconfig({ user: { username: 'me', password: 'pw' } })],
    ['an impersonated user', kubeconfig({ user: { token: 't', as: 'jane' } })],
    ['a token that is no text', kubeconfig({ user: { token: 12 } })],
    ['a context without a user', kubeconfig({ context: { user: 'other' } })],
    ['a server that is no text', kubeconfig({ cluster: { server: 1 } })],
    ['a name that is no text', kubeconfig({ top: { users: [{ name: 1, user: {} }] } })],
    ['a list that is none', kubeconfig({ top: { clusters: { c: 1 } } })],
    ['a doubled name', kubeconfig({ top: { users: [{ name: 'u' }, { name: 'u' }] } })],
    ['what is no YAML', 'users: [{token: x}\n'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    const reader = new PlainConfig(parse, {});
    expect(() => {
      reader.loadFromString(text);
      reader.getCurrentUser();
    }).toThrow(NotPlainError);
  });
});

describe('in a pod', () => {
  it.each([
    [{ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }, 'https://10.0.0.1:443'],
    [{ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, 'https://[fd00::1]:443'],
  ])('%j is %s', (env, server) => {
    const config = new PlainConfig(JSON.parse, env);
    config.loadFromCluster();
    expect(config.getCurrentCluster()?.server).toBe(server);
    expect(config.getCurrentContext()).toBe('inClusterContext');
  });

  it.each([{}, { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '8080' }])(
    'is left to client-node with %j',
    (env) => {
      expect(() => new PlainConfig(JSON.parse, env).loadFromCluster()).toThrow(NotPlainError);
    },
  );
});
