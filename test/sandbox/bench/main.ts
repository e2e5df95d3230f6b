import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { load, steadily, type Loaded } from './load.ts';

/**
 * `npm run bench:sandbox`: the embedded service in a process of its own, bundled as users run it, on disk, asked
 * over HTTP. Exits with 1 when a figure misses what is promised.
 */
const INSTANCES = 10_000;
const CONNECTIONS = 8;
const RATE = { perSecond: 300, seconds: 30 };
const MIB = 1024 * 1024;

interface Ready {
  url: string;
  token: string;
  /** Logs a browser in, once. */
  link: string;
  base: string;
  provider: string;
}

interface Usage extends NodeJS.MemoryUsage {
  maxRss: number;
  cpu: NodeJS.CpuUsage;
}

const folder = mkdtempSync(join(tmpdir(), 'boxwright-bench-'));
const program = join(folder, 'serve.mjs');
await build({
  entryPoints: [fileURLToPath(new URL('serve.ts', import.meta.url))],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
  banner: {
    js: "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
  },
});
const child = fork(program, [join(folder, 'data')]);

function next<T>(): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

function usage(): Promise<Usage> {
  const answer = next<Usage>();
  child.send('usage');
  return answer;
}

let missed = 0;

function print(name: string, text: string, target?: { text: string; met: boolean }): void {
  const verdict = target === undefined ? '' : `  (${target.text}: ${target.met ? 'kept' : 'MISSED'})`;
  if (target?.met === false) missed++;
  process.stdout.write(`${name.padEnd(36)} ${text}${verdict}\n`);
}

async function printMemory(name: string): Promise<void> {
  const { rss, heapUsed, maxRss } = await usage();
  const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
  print(name, `${mib(rss)} MiB RSS, at most ${mib(maxRss)} so far, heap in use ${mib(heapUsed)}`, {
    text: '≤ 200 MiB',
    met: rss <= 200 * MIB,
  });
}

/** With calls per second of processor time that the service takes: what it would do alone on one core. */
async function printLoad(name: string, run: () => Promise<Loaded>): Promise<Loaded> {
  const before = (await usage()).cpu;
  const loaded = await run();
  const after = (await usage()).cpu;
  const seconds = (after.user - before.user + after.system - before.system) / 1e6;
  const { perSecond, p50, p95 } = loaded;
  const perCpu = Math.round((perSecond * loaded.seconds) / seconds);
  print(
    name,
    `${Math.round(perSecond)}/s, p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms; ${perCpu} per CPU second`,
  );
  return loaded;
}

try {
  const { url, token, link, base, provider } = await next<Ready>();
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
  const deploy = send('POST', '/services/instances', {
    schema: `${base}/deploy-instance-request`,
    name: 'bench',
    box: { id: box.id },
    policy_box: { id: policy.id },
    instance_tags: ['bw-abcdefgh-abcdefghijklmnop'],
  });
  const steady = await steadily(deploy, RATE);
  print(
    `deploys, ${RATE.perSecond}/s for ${RATE.seconds} s`,
    `${Math.round(steady.perSecond)}/s taken, p50 ${steady.p50.toFixed(1)} ms, p95 ${steady.p95.toFixed(1)} ms`,
    { text: 'all taken in time', met: steady.perSecond > RATE.perSecond * 0.98 },
  );
  const rest = INSTANCES - RATE.perSecond * RATE.seconds;
  const fast = await printLoad('deploys, as fast as they go', () =>
    load(deploy, { count: rest, connections: CONNECTIONS }),
  );
  const { uri } = JSON.parse(fast.last) as { uri: string };
  await printMemory(`memory with ${INSTANCES} instances`);
  const many = (call: Parameters<typeof load>[0], count: number) => (): Promise<Loaded> =>
    load(call, { count, connections: CONNECTIONS });
  await many(send('GET', uri), 2_000)();
  await printLoad('GET instance', many(send('GET', uri), 20_000));
  await printLoad('PUT box', many(send('PUT', box.uri, { description: 'd' }), 2_000));
  const list = send('GET', '/services/instances');
  const cold = await load(list, { count: 1, connections: 1 });
  print(`list of ${INSTANCES}, first`, `${cold.p50.toFixed(0)} ms, ${(cold.bytes / 1e6).toFixed(1)} MB`);
  const warm = await load(list, { count: 15, connections: 1 });
  print(
    `list of ${INSTANCES}`,
    `p50 ${warm.p50.toFixed(0)} ms, p95 ${warm.p95.toFixed(0)} ms to the last byte`,
    {
      text: 'p50 ≤ 250 ms',
      met: warm.p50 <= 250,
    },
  );
  const login = await fetch(link, { redirect: 'manual' });
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const screen = { url, method: 'GET', path: '/page/instances', headers: { cookie } };
  const page = await load(screen, { count: 30, connections: 1 });
  if (!page.last.includes('id="row-')) throw new Error('the page showed no instances');
  print('one screen of the page', `p50 ${page.p50.toFixed(0)} ms, p95 ${page.p95.toFixed(0)} ms`, {
    text: 'p50 ≤ 50 ms',
    met: page.p50 <= 50,
  });
  await printMemory('memory after lists and pages');
} finally {
  child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed === 0 ? 0 : 1;
