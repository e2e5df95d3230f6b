import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './load.ts';

/** `npm run bench:sandbox`: the embedded service in a process of its own, on disk, asked over HTTP. */
const INSTANCES = 10_000;
const CONNECTIONS = 8;

interface Ready {
  url: string;
  token: string;
  base: string;
  provider: string;
}

const data = mkdtempSync(join(tmpdir(), 'boxwright-bench-'));
const child = fork(fileURLToPath(new URL('serve.ts', import.meta.url)), [data]);

function next<T>(): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

interface Usage extends NodeJS.MemoryUsage {
  cpu: NodeJS.CpuUsage;
}

function usage(): Promise<Usage> {
  const answer = next<Usage>();
  child.send('memory');
  return answer;
}

async function memory(): Promise<string> {
  const { rss, heapUsed, external } = await usage();
  return `${mb(rss)} MB RSS (heap in use ${mb(heapUsed)}, buffers ${mb(external)})`;
}

/** Calls per second of processor time that the service takes: what it would do alone on one core. */
async function measured(
  call: Parameters<typeof load>[0],
  count: number,
): Promise<{ text: string; last: string }> {
  const before = (await usage()).cpu;
  const { perSecond, p95, last } = await load(call, { count, connections: CONNECTIONS });
  const after = (await usage()).cpu;
  const seconds = (after.user - before.user + after.system - before.system) / 1e6;
  const text = `${Math.round(perSecond)}/s, p95 ${p95.toFixed(1)} ms; ${Math.round(count / seconds)} per CPU second`;
  return { text, last };
}

try {
  const { url, token, base, provider } = await next<Ready>();
  const send = (method: string, path: string, body?: object): Parameters<typeof load>[0] => ({
    url,
    method,
    path,
    headers: { 'service-token': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const one = async (method: string, path: string, body?: object): Promise<{ id: string; uri: string }> => {
    const { last } = await load(send(method, path, body), { count: 1, connections: 1 });
    return JSON.parse(last) as { id: string; uri: string };
  };
  const rows: [string, string][] = [];
  const box = await one('POST', '/services/boxes', {
    schema: `${base}/boxes/script`,
    name: 'bench',
    requirements: ['Linux'],
  });
  const variables = Array.from({ length: 10 }, (_, n) => ({ name: `V${n}`, type: 'Text', value: 'x' }));
  await one('PUT', box.uri, { variables });
  const policy = await one('POST', '/services/boxes', {
    schema: `${base}/boxes/policy`,
    name: 'bench policy',
    provider_id: provider,
    profile: { schema: `${base}/test/compute/profile`, flavor: 'test.micro' },
    claims: [],
  });
  const request = {
    schema: `${base}/deploy-instance-request`,
    name: 'bench',
    box: { id: box.id },
    policy_box: { id: policy.id },
    instance_tags: ['bw-abcdefgh-abcdefghijklmnop'],
  };
  const deploy = send('POST', '/services/instances', request);
  const { text, last } = await measured(deploy, INSTANCES);
  rows.push(['deploy', text]);
  const instance = JSON.parse(last) as { uri: string };

  rows.push([`memory with ${INSTANCES} instances`, await memory()]);
  const read = send('GET', instance.uri);
  await load(read, { count: 2_000, connections: CONNECTIONS });
  rows.push(['GET instance', (await measured(read, 20_000)).text]);
  rows.push(['PUT box', (await measured(send('PUT', box.uri, { description: 'd' }), 2_000)).text]);
  const list = send('GET', '/services/instances');
  const cold = await load(list, { count: 1, connections: 1 });
  rows.push([
    `list of ${INSTANCES}, first`,
    `${cold.p95.toFixed(0)} ms, ${(cold.bytes / 1e6).toFixed(1)} MB`,
  ]);
  const warm = await load(list, { count: 5, connections: 1 });
  rows.push([`list of ${INSTANCES}, again`, `p95 ${warm.p95.toFixed(0)} ms`]);
  rows.push([`after lists of ${INSTANCES}`, await memory()]);
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(32)} ${value}\n`);
} finally {
  child.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
}
