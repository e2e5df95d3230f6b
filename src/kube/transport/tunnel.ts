import { buildConnector } from 'undici';
import type { Clock } from '../../base/clock.ts';
import type { HttpProxy } from '../../base/proxy/settings.ts';
import { openTunnel } from '../../base/proxy/tunnel.ts';

/**
 * Connects to an API server through a proxy by CONNECT, with TLS inside to the API server itself. Fails with
 * {@link ProxyRefusedError}, whose message tells what to do.
 */
export function tunnelTo(
  server: string,
  proxy: HttpProxy,
  clock: Clock,
  options: buildConnector.BuildOptions & { timeout: number },
): buildConnector.connector {
  const url = new URL(server);
  const secure = url.protocol === 'https:';
  const far = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
  };
  const connectInside = buildConnector({ ...options, allowH2: false });
  return (to, done) => {
    openTunnel({ proxy, ...far, clock, timeoutMs: options.timeout }, (error, httpSocket) => {
      if (error !== null) done(error, null);
      else if (secure) connectInside({ ...to, httpSocket }, done);
      else done(null, httpSocket);
    });
  };
}
