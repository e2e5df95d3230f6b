import { lookup, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs';
import { isIP } from 'node:net';
import type { Places } from '../../base/places.ts';

/** Every address of a host; calls back with an error when there is none. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const HOSTS_FILE = '/etc/hosts';

/**
 * The system's look-up, of absolute names alone. A pod's resolver tries a name in the domains of its search list
 * first (`ndots: 5`): `deploy.example.com.svc.cluster.local`, which whoever makes a namespace `com` and a Service of
 * that name answers. A dot at the end rules that out, but also the lines of /etc/hosts, which are the
 * administrator's (`hostAliases`): these are read here.
 */
export function absoluteResolve(system: typeof lookup = lookup, hostsFile: string = HOSTS_FILE): Resolve {
  return (host, done) => {
    readFile(hostsFile, 'utf8', (unreadable, text) => {
      // Without such a file there are no such lines.
      const own = unreadable === null ? addressesIn(text, host) : [];
      if (own.length > 0) done(null, own);
      else system(absolute(host), { all: true }, (error, addresses) => done(error, addresses));
    });
  };
}

/**
 * Look-ups that take turns: each holds one of the process's four threads until its name server answers, or for ten
 * seconds and more where that does not. Those of one host are one.
 *
 * @param owner - whose they are, a namespace
 */
export function queuedResolve(resolve: Resolve, places: Places, owner: string): Resolve {
  const underWay = new Map<string, Parameters<Resolve>[1][]>();
  return (host, done) => {
    const joined = underWay.get(host);
    if (joined !== undefined) {
      joined.push(done);
      return;
    }
    const all = [done];
    underWay.set(host, all);
    void places.take(owner).then((leave) =>
      resolve(host, (error, addresses) => {
        leave();
        underWay.delete(host);
        for (const one of all) one(error, addresses);
      }),
    );
  };
}

function absolute(host: string): string {
  return isIP(host) !== 0 || host.endsWith('.') ? host : `${host}.`;
}

/** What hosts(5) says of a name. */
function addressesIn(hosts: string, host: string): LookupAddress[] {
  const name = host.replace(/\.$/, '').toLowerCase();
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    return family !== 0 && names.some((one) => one.toLowerCase() === name) ? [{ address, family }] : [];
  });
}
