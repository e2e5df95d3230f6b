import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loopbackServer, type LoopbackServer } from '../../../test/support/loopback-server.ts';
import { tarGz, type TarEntry } from '../../../test/support/tar-archive.ts';
import { systemClock } from '../../base/clock.ts';
import { readProxySettings } from '../../base/proxy/settings.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Progress } from '../progress.ts';
import { fetchEnvtest, findEnvtest, type FindOptions } from './envtest.ts';
import { envtestPlatform } from './release.ts';

const PLATFORM = envtestPlatform();
const PROGRAMS: TarEntry[] = [
  { path: 'controller-tools/envtest/etcd', content: 'an etcd' },
  { path: 'controller-tools/envtest/kube-apiserver', content: 'an API server' },
  { path: 'controller-tools/envtest/kubectl', content: 'a kubectl' },
];

let scratch = '';
let server: LoopbackServer;
let notes: string[] = [];
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'boxwright-envtest-'));
  notes = [];
  server = await loopbackServer((_, response) => response.end());
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

interface Published {
  version?: string;
  archive: Buffer;
  hash?: string;
  /** Answers for the archive. @default all of it */
  answer?: (response: ServerResponse) => void;
}

/** Serves a list as setup-envtest reads it, and the archives that it names. */
function publish(...published: Published[]): void {
  const names = published.map(({ version = '1.36.2' }) => `envtest-v${version}-${PLATFORM}.tar.gz`);
  const releases = Object.fromEntries(
    published.map(({ version = '1.36.2', archive, hash = sha512(archive) }, i) => [
      `v${version}`,
      {
        [names[i] ?? '']: { hash, selfLink: `${server.url}/old/${names[i]}` },
        [`envtest-v${version}-plan9-mips.tar.gz`]: { hash: '0', selfLink: 'https://example.com/' },
      },
    ]),
  );
  server.handler = ({ url = '' }, response) => {
    if (url === '/index.yaml') return void response.end(JSON.stringify({ releases }));
    // As releases on GitHub, which are elsewhere.
    if (url.startsWith('/old/')) {
      return void response.writeHead(302, { location: url.replace('/old/', '/new/') }).end();
    }
    const found = published[names.indexOf(url.replace('/new/', ''))];
    if (found === undefined) return void response.writeHead(404).end();
    return found.answer === undefined ? void response.end(found.archive) : found.answer(response);
  };
}

function options(given: Partial<FindOptions> = {}): FindOptions {
  const progress: Progress = {
    begin: (what) => {
      notes.push(what);
      return { detail: () => undefined, end: (outcome) => notes.push(outcome) };
    },
    note: (text) => notes.push(text),
  };
  return {
    env: {},
    index: new URL(`${server.url}/index.yaml`),
    proxies: readProxySettings({}),
    folder: join(scratch, 'envtest'),
    tried: { major: 1, minor: 36, patch: 3 },
    clock: systemClock,
    progress,
    ...given,
  };
}

function sha512(content: Buffer): string {
  return createHash('sha512').update(content).digest('hex');
}

/** What is in the cache, half or whole. */
function kept(): string[] {
  const folder = join(scratch, 'envtest');
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe('a published archive', () => {
  it('is fetched once, over a redirect, checked, and found from then on', async () => {
    publish({ version: '1.35.0', archive: tarGz(PROGRAMS) }, { archive: tarGz(PROGRAMS) });
    const fetched = await fetchEnvtest(options());
    const folder = fetched?.folder ?? '';
    expect(readdirSync(folder).toSorted()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
    expect(readFileSync(join(folder, 'etcd'), 'utf8')).toBe('an etcd');
    expect(statSync(join(folder, 'etcd')).mode & 0o777).toBe(0o555);
    expect(kept()).toEqual([`1.36.2-${PLATFORM}`]);
    expect(notes).toEqual([`fetching Kubernetes 1.36.2 from ${new URL(server.url).host}`, 'done']);
    const before = server.requests.length;
    expect(findEnvtest(options())).toMatchObject({ version: { minor: 36, patch: 2 }, folder });
    expect(server.requests.length).toBe(before);
  });

  it('is the newest that fits; of none that does, the list is told', async () => {
    const archive = tarGz(PROGRAMS);
    publish({ version: '1.29.4', archive }, { version: '1.37.1', archive });
    expect(await fetchEnvtest(options())).toBeUndefined();
    expect(notes).toEqual([
      `no published archive is taken: ${server.url}/index.yaml lists no archive for ${PLATFORM} that fits; it has 1.29.4, 1.37.1`,
    ]);
  });

  it.each<[string, () => Published, RegExp]>([
    [
      'that is not what the list says',
      () => ({ archive: tarGz(PROGRAMS), hash: 'ab'.repeat(64) }),
      /is not what the list says: SHA-512 [0-9a-f]{16}…, not abababababababab…/,
    ],
    [
      'that ends too early',
      () => {
        const archive = tarGz(PROGRAMS);
        return {
          archive,
          answer: (response) => {
            response.writeHead(200, { 'content-length': archive.length });
            response.write(archive.subarray(0, 100));
            response.socket?.end();
          },
        };
      },
      /fetching from 127\.0\.0\.1:\d+ failed/,
    ],
    [
      'that was cut short before it was listed',
      () => {
        const archive = tarGz(PROGRAMS);
        return { archive: archive.subarray(0, archive.length - 40) };
      },
      /cannot be unpacked/,
    ],
    [
      'with a path upwards',
      () => ({ archive: tarGz([...PROGRAMS, { path: '../../../etcd', content: 'evil' }]) }),
      /leads outside: \.\.\/\.\.\/\.\.\/etcd/,
    ],
    [
      'with a path from the root',
      () => ({ archive: tarGz([{ path: '/tmp/boxwright-evil', content: 'evil' }, ...PROGRAMS]) }),
      /leads outside: \/tmp\/boxwright-evil/,
    ],
    [
      'with links in the place of programs',
      () => ({
        archive: tarGz([
          { path: 'bin/etcd', type: 'SymbolicLink', linkpath: '/bin/sh' },
          { path: 'bin/kube-apiserver', content: 'an API server' },
        ]),
      }),
      /holds no etcd/,
    ],
    ['that is no archive', () => ({ archive: Buffer.from('<html>') }), /cannot be unpacked|holds no etcd/],
  ])('%s is refused with a word, and nothing of it stays', async (_, make, word) => {
    publish(make());
    expect(await fetchEnvtest(options())).toBeUndefined();
    expect(notes.at(-1)).toMatch(/^no published archive is taken: /);
    expect(notes.at(-1)).toMatch(word);
    expect(notes.at(-2)).toBe('failed');
    expect(kept()).toEqual([]);
    expect(existsSync('/tmp/boxwright-evil')).toBe(false);
  });
});

describe('without a way to the list', () => {
  it.each([
    ['nobody listens', 'http://127.0.0.1:1/index.yaml', /failed \(ECONNREFUSED\)/],
    ['it is neither https nor on loopback', 'http://example.com/index.yaml', /neither https nor on loopback/],
    ['it is a file', 'file:///etc/passwd', /neither https nor on loopback/],
  ])('where %s, it says so', async (_, index, word) => {
    expect(await fetchEnvtest(options({ index: new URL(index) }))).toBeUndefined();
    expect(notes).toEqual([expect.stringMatching(word)]);
  });

  it.each([
    ['a page to log in', '<html>Welcome to our network</html>'],
    ['another document', 'apiVersion: v1'],
    ['no YAML', '{{{'],
  ])('where %s is there instead, it says so', async (_, text) => {
    server.handler = (_request, response) => void response.end(text);
    expect(await fetchEnvtest(options())).toBeUndefined();
    expect(notes).toEqual([expect.stringMatching(/is no list of releases of envtest$/)]);
  });

  it('asks for none where setup-envtest asks for none', async () => {
    expect(await fetchEnvtest(options({ env: { ENVTEST_INSTALLED_ONLY: 'true' } }))).toBeUndefined();
    expect(server.requests).toEqual([]);
    expect(notes).toEqual(['nothing is fetched: ENVTEST_INSTALLED_ONLY is set']);
  });

  it('waits no longer than its limit for an answer that never comes', async () => {
    const clock = new VirtualClock();
    const asked = new Promise<void>((resolve) => {
      server.handler = () => resolve();
    });
    const fetching = fetchEnvtest(options({ clock }));
    await asked;
    await clock.advance(15_000);
    expect(await fetching).toBeUndefined();
    expect(notes).toEqual([expect.stringMatching(/took longer than 15 s$/)]);
  });

  it('ends at once when it is interrupted', async () => {
    const interrupt = new AbortController();
    server.handler = () => interrupt.abort(new Error('interrupted'));
    await expect(fetchEnvtest(options({ signal: interrupt.signal }))).rejects.toThrow('interrupted');
    expect(notes).toEqual([]);
  });
});
