import type { LookupFunction } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Clock } from '../../base/clock.ts';
import type { HttpProxy } from '../../base/proxy/settings.ts';
import { openTunnel, ProxyRefusedError, unreachable } from '../../base/proxy/tunnel.ts';
import { ServiceTransportError } from '../port.ts';
import type { AddressCheck } from './addresses.ts';
import { connectFailure } from './failures.ts';
import type { Resolve } from './resolve.ts';

export interface ConnectOptions {
  /** Milliseconds for all of it; through a proxy for the tunnel, and again for TLS in it. */
  timeoutMs: number;
  /** PEM certificates to trust instead of the system's. */
  ca: string | undefined;
}

type Connector = buildConnector.connector;

/** To the service itself: only to addresses that pass the check. Failures are {@link ServiceTransportError}. */
export function directConnect(
  { timeoutMs, ca }: ConnectOptions,
  check: AddressCheck,
  resolve: Resolve,
): Connector {
  return explained(
    buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      autoSelectFamily: true,
      lookup: checkedLookup(check, resolve),
      ...trust(ca),
    }),
  );
}

/**
 * To the service over TLS through a proxy, which looks the name up: the address that it takes is its matter, and
 * not checked here. Failures are {@link ServiceTransportError}.
 */
export function tunnelConnect(
  { timeoutMs, ca }: ConnectOptions,
  proxy: HttpProxy,
  far: { host: string; port: number },
  clock: Clock,
): Connector {
  const secure = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    ...trust(ca),
  });
  return explained((to, done) => {
    openTunnel({ proxy, ...far, clock, timeoutMs }, (error, httpSocket) => {
      if (error === null) secure({ ...to, httpSocket }, done);
      else done(error, null);
    });
  });
}

/** To a proxy that is asked for plain http URLs. Failures are {@link ServiceTransportError}. */
export function forwardConnect(timeoutMs: number, proxy: HttpProxy): Connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, autoSelectFamily: true });
  return explained((to, done) =>
    connect(to, (error, socket) => {
      if (error === null) done(null, socket);
      else done(new ProxyRefusedError(`the proxy ${proxy.address} ${unreachable(error, proxy)}`), null);
    }),
  );
}

/** Read once: a bundle of 256 KiB takes longer than a connection. */
function trust(ca: string | undefined): { secureContext?: SecureContext } {
  return ca === undefined ? {} : { secureContext: createSecureContext({ ca }) };
}

function explained(connect: Connector): Connector {
  return (to, done) =>
    connect(to, (error, socket) => {
      if (error === null) done(null, socket);
      else done(connectFailure(error), null);
    });
}

/**
 * A look-up that hands out checked addresses only, so that the connection goes to what was checked and no
 * second look-up can answer differently. One refused address spoils the name: it is being used as a detour.
 */
function checkedLookup(check: AddressCheck, resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      if (error !== null) {
        done(error, '');
        return;
      }
      for (const { address } of addresses) {
        const refused = check(address);
        if (refused !== undefined) {
          const message = `the endpoint's host resolves to a ${refused} address, which is not called`;
          done(new ServiceTransportError('NotAllowed', message, { maybeSent: false }), '');
          return;
        }
      }
      const [first] = addresses;
      if (first === undefined) done(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}
