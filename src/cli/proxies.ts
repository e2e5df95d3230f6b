import { ProxySettingError, readProxySettings, type ProxySettings } from '../base/proxy/settings.ts';
import { UsageError } from './exit-codes.ts';

/** The proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. @throws UsageError */
export function proxiesOf(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  try {
    return readProxySettings(env);
  } catch (error) {
    if (!(error instanceof ProxySettingError)) throw error;
    throw new UsageError(error.message);
  }
}

/** What a log may say of them. */
export function proxyAddresses({ http, https }: ProxySettings): Record<string, string> {
  return {
    ...(https === undefined ? {} : { https: https.address }),
    ...(http === undefined ? {} : { http: http.address }),
  };
}
