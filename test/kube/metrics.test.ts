import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { Authority } from '../../src/devcluster/index.ts';
import { installKinds } from '../api/install.ts';
import { Helm } from '../chart/chart.ts';
import { boxwright, type Running } from '../cli/boxwright.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

const cluster = testCluster();
let namespace: TestNamespace;
let operator: Running;
let dir: string;
let authority: Authority;
let agent: Agent;
let metrics: string;
let health: string;
const tokens: string[] = [];

const clusterName = (name: string): string => `${namespace.name}:boxwright-metrics-${name}`;
const kubectl = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
};

/** A token of its own each time, so that nothing is remembered of it. */
async function tokenOf(account: string): Promise<string> {
  const token = (await kubectl('create', 'token', account, '--namespace', namespace.name)).trim();
  tokens.push(token);
  return token;
}

function writeCertificate(): void {
  const { cert, key } = authority.server(['127.0.0.1']);
  writeFileSync(join(dir, 'tls.crt'), cert);
  writeFileSync(join(dir, 'tls.key'), key);
}

async function scrape(authorization?: string): Promise<{ status: number; text: string }> {
  const headers = authorization === undefined ? {} : { authorization };
  const { statusCode, body } = await request(`${metrics}/metrics`, { headers, dispatcher: agent });
  return { status: statusCode, text: await body.text() };
}

async function fingerprint(): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(metrics).port), ca: authority.cert });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

beforeAll(async () => {
  await installKinds(cluster);
  namespace = await cluster.namespace('metrics');
  dir = mkdtempSync(join(tmpdir(), 'boxwright-metrics-'));
  authority = Authority.open(dir, systemClock);
  agent = new Agent({ connect: { ca: authority.cert } });
  writeCertificate();
  const rights = await new Helm(cluster).objects(
    {
      namespaces: [namespace.name],
      rbac: { metricsReviews: 'Always' },
      admissionPolicies: { enabled: false },
      allowedHosts: ['deploy.example.com'],
    },
    '--namespace',
    namespace.name,
  );
  const wanted = rights.filter(({ kind }) => /Role|ServiceAccount/.test(kind));
  await cluster.apply(wanted.map((object) => stringify(object)).join('---\n'));
  for (const account of ['prometheus', 'stranger']) {
    await kubectl('create', 'serviceaccount', account, '--namespace', namespace.name);
  }
  await kubectl(
    'create',
    'clusterrolebinding',
    clusterName('reader'),
    `--clusterrole=${clusterName('reader')}`,
    `--serviceaccount=${namespace.name}:prometheus`,
  );
  operator = boxwright([
    'operator',
    // The name and the rights of the chart's ServiceAccount, and no others.
    `--kubeconfig=${cluster.kubeconfigFor(`system:serviceaccount:${namespace.name}:boxwright`)}`,
    `--namespace=${namespace.name}`,
    `--namespaces=${namespace.name}`,
    '--metrics-secure',
    `--metrics-cert-path=${dir}`,
    '--metrics-address=127.0.0.1:0',
    '--health-address=127.0.0.1:0',
    '--log-format=json',
    '--log-level=debug',
  ]);
  health = await operator.sees(/"url":"(http:[^"]+)"/);
  metrics = await operator.sees(/"url":"(https:[^"]+)"/);
  await operator.sees(/caches are in sync/);
}, 180_000);

afterAll(async () => {
  operator.child.kill('SIGTERM');
  await operator.ended;
  await agent.close();
  rmSync(dir, { recursive: true });
  for (const name of ['reader', 'reviews', 'admin']) {
    await cluster.kubectl(['delete', 'clusterrolebinding', clusterName(name), '--ignore-not-found']);
    await cluster.kubectl(['delete', 'clusterrole', clusterName(name), '--ignore-not-found']);
  }
  await namespace.cleanup();
});

describe('secure metrics of the operator', { timeout: 120_000 }, () => {
  it('are given over https to a ServiceAccount that may get /metrics, by its own token', async () => {
    const { status, text } = await scrape(`Bearer ${await tokenOf('prometheus')}`);
    expect(status).toBe(200);
    expect(text).toContain('boxwright_build_info{version=');
  });

  it('are refused with 403 to one that may not', async () => {
    expect((await scrape(`Bearer ${await tokenOf('stranger')}`)).status).toBe(403);
  });

  it('are refused with 401 without a token, with garbage, and with a token that was changed', async () => {
    const token = await tokenOf('prometheus');
    const [head, body, signature = ''] = token.split('.');
    const changed = `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const header of [undefined, 'Bearer garbage', `Bearer ${changed}`, `Basic ${token}`]) {
      expect((await scrape(header)).status).toBe(401);
    }
  });

  it('leave health in the open, at its own address, and no metrics there', async () => {
    const { statusCode, body } = await request(`${health}/readyz`);
    expect([statusCode, await body.text()]).toEqual([200, expect.stringContaining('[+] synced ok')]);
    expect((await request(`${health}/metrics`)).statusCode).toBe(404);
  });

  it('show a certificate that was exchanged, without a restart', async () => {
    const before = await fingerprint();
    writeCertificate();
    await eventually('the new one is shown', async () => (await fingerprint()) !== before);
    expect((await scrape(`Bearer ${await tokenOf('prometheus')}`)).status).toBe(200);
  });

  it('are refused to everybody while the operator may not ask, until an administrator lets it', async () => {
    await kubectl('delete', 'clusterrolebinding', clusterName('reviews'));
    const refused = await eventually('it may not ask any more', async () => {
      const answer = await scrape(`Bearer ${await tokenOf('prometheus')}`);
      return answer.status !== 200 && answer;
    });
    expect(refused).toMatchObject({
      status: 500,
      text: expect.stringContaining('system:auth-delegator') as string,
    });
    await kubectl(
      'create',
      'clusterrolebinding',
      clusterName('admin'),
      '--clusterrole=system:auth-delegator',
      `--serviceaccount=${namespace.name}:boxwright`,
    );
    await eventually('it may ask again', async () => {
      return (await scrape(`Bearer ${await tokenOf('prometheus')}`)).status === 200;
    });
  });

  it.each([
    [
      'an address of health that is taken',
      () => [`--health-address=${new URL(health).host}`],
      '--health-address 127',
    ],
    [
      'a folder without a certificate',
      () => ['--metrics-cert-path=/nowhere'],
      '/nowhere/tls.crt cannot be read',
    ],
  ])('end the operator at the start when it is given %s, naming what is wrong', async (_, flags, message) => {
    const other = boxwright([
      'operator',
      `--kubeconfig=${cluster.kubeconfigPath}`,
      `--namespace=${namespace.name}`,
      `--namespaces=${namespace.name}`,
      '--metrics-secure',
      '--metrics-address=127.0.0.1:0',
      '--health-address=127.0.0.1:0',
      '--log-format=text',
      ...flags(),
    ]);
    expect(await other.ended).toBe(1);
    expect(other.output.stderr).toContain(message);
  });

  it('leave no token in the log, at any level', () => {
    expect(tokens.length).toBeGreaterThan(5);
    for (const token of tokens) {
      const signature = token.split('.')[2] ?? token;
      expect(operator.output.stderr.includes(signature)).toBe(false);
    }
  });
});
