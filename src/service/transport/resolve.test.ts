import type { lookup, LookupAddress } from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Places } from '../../base/places.ts';
import { settle } from '../../base/virtual-clock.ts';
import { absoluteResolve, queuedResolve, type Resolve } from './resolve.ts';

/** What is asked of the system for a host, and what comes out. */
async function resolved(
  host: string,
  hosts?: string,
): Promise<{ asked: string[]; addresses: readonly LookupAddress[] }> {
  const asked: string[] = [];
  const system = ((name: string, _: object, done: (error: null, found: LookupAddress[]) => void) => {
    asked.push(name);
    done(null, [{ address: '10.0.0.9', family: 4 }]);
  }) as unknown as typeof lookup;
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'hosts');
  if (hosts !== undefined) writeFileSync(file, hosts);
  return new Promise((resolve, reject) => {
    absoluteResolve(system, file)(host, (error, addresses) => {
      if (error === null) resolve({ asked, addresses });
      else reject(error);
    });
  });
}

// S11: a search list asks for deploy.example.com.svc.cluster.local first.
it.each(['deploy.example.com', 'deploy.example.com.', 'deploy'])(
  'asks for %s as an absolute name',
  async (host) => {
    const { asked } = await resolved(host);
    expect(asked).toEqual([`${host.replace(/\.$/, '')}.`]);
  },
);

it('leaves addresses as they are', async () => {
  expect((await resolved('10.0.0.7')).asked).toEqual(['10.0.0.7']);
  expect((await resolved('fd00::1')).asked).toEqual(['fd00::1']);
});

it('keeps to the lines of the hosts file, in any case and with comments', async () => {
  const hosts = [
    '# made by the kubelet',
    '127.0.0.1\tlocalhost',
    '10.1.1.1  Deploy.Example.com deploy # the balancer',
    'fd00::7 deploy.example.com',
    '# 10.6.6.6 deploy.example.com',
    'nonsense deploy.example.com',
  ].join('\n');
  const { asked, addresses } = await resolved('deploy.example.COM', hosts);
  expect(asked).toEqual([]);
  expect(addresses).toEqual([
    { address: '10.1.1.1', family: 4 },
    { address: 'fd00::7', family: 6 },
  ]);
  expect((await resolved('example.com', hosts)).asked).toEqual(['example.com.']);
});

describe('look-ups', () => {
  it('of names that nobody answers for leave threads to those of another namespace, and are one for each host', async () => {
    const asked: string[] = [];
    const hangs: Resolve = (host, done) => {
      asked.push(host);
      if (host === 'good.example.com') done(null, [{ address: '192.0.2.1', family: 4 }]);
    };
    const places = new Places({ places: 3, each: 2 });
    const big = queuedResolve(hangs, places, 'big');
    for (let i = 0; i < 30; i++) big(`bad-${i % 10}.example.com`, () => undefined);
    await settle();
    const small = queuedResolve(hangs, places, 'small');
    const found = await Promise.all(
      Array.from(
        { length: 3 },
        () => new Promise((resolve) => small('good.example.com', (_, all) => resolve(all))),
      ),
    );
    expect(found).toEqual(Array.from({ length: 3 }, () => [{ address: '192.0.2.1', family: 4 }]));
    expect(asked).toEqual(['bad-0.example.com', 'bad-1.example.com', 'good.example.com']);
  });
});
