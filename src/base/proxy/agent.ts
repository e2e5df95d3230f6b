import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import { proxyFor, type ProxySettings } from './settings.ts';

/**
 * What sends requests to `url`: by the proxy that is for it, or directly. Through a tunnel to an https address; plain
 * http is what a proxy forwards. HTTP/2 is not spoken.
 */
export function agentFor(
  url: URL,
  proxies: ProxySettings | undefined,
  options: Agent.Options = {},
): Dispatcher {
  const proxy = proxies === undefined ? undefined : proxyFor(url, proxies);
  const own = { ...options, allowH2: false };
  if (proxy === undefined) return new Agent(own);
  const token = proxy.headers()['proxy-authorization'];
  return new ProxyAgent({
    ...own,
    uri: `${proxy.secure ? 'https' : 'http'}://${proxy.address}`,
    proxyTunnel: url.protocol === 'https:',
    ...(token === undefined ? {} : { token }),
  });
}
