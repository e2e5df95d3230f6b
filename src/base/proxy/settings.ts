import { parseNoProxy, type Bypass } from './no-proxy.ts';

/** Thrown for a proxy variable that cannot be used; the message names it, never its value. */
export class ProxySettingError extends Error {
  readonly code = 'ProxySetting';
  constructor(variable: string, what: string) {
    super(
      `${variable} ${what}; write http://<host>:<port>, with <user>:<password>@ where the proxy asks for it`,
    );
    this.name = 'ProxySettingError';
  }
}

/** A proxy. Its credentials show up in no property, so that nothing that prints it prints them. */
export class HttpProxy {
  readonly host: string;
  readonly port: number;
  /** Whether it is spoken to over TLS. */
  readonly secure: boolean;
  /** What named it, for messages: a variable, or a field. */
  readonly variable: string;
  readonly #authorization: string | undefined;

  private constructor(url: URL, variable: string) {
    this.host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    this.secure = url.protocol === 'https:';
    this.port = url.port === '' ? (this.secure ? 443 : 80) : Number(url.port);
    this.variable = variable;
    this.#authorization = authorizationOf(url, variable);
  }

  /** Reads a variable's value; without a scheme it is http. @throws ProxySettingError */
  static parse(text: string, variable: string): HttpProxy {
    const url = URL.parse(text.includes('://') ? text : `http://${text}`);
    if (url === null || url.hostname === '') throw new ProxySettingError(variable, 'is not a URL');
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new ProxySettingError(
        variable,
        `names a proxy of kind ${url.protocol.slice(0, -1)}, not http or https`,
      );
    }
    return new HttpProxy(url, variable);
  }

  /** `host:port`, for messages. */
  get address(): string {
    return `${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.port}`;
  }

  /** Whether this is the same way, credentials included. */
  isSame(other: HttpProxy): boolean {
    return (
      this.address === other.address &&
      this.secure === other.secure &&
      this.#authorization === other.#authorization
    );
  }

  /** What a request to the proxy itself carries. */
  headers(): Record<string, string> {
    return this.#authorization === undefined ? {} : { 'proxy-authorization': this.#authorization };
  }
}

/** Which calls go through which proxy. */
export interface ProxySettings {
  /** Of `http:` URLs. */
  http?: HttpProxy;
  /** Of `https:` URLs. */
  https?: HttpProxy;
  bypass: Bypass;
}

/**
 * HTTP_PROXY, HTTPS_PROXY and NO_PROXY of an environment, each in capitals or else in small letters.
 * @throws ProxySettingError
 */
export function readProxySettings(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const proxyOf = (scheme: 'http' | 'https'): HttpProxy | undefined => {
    const [variable, value] = given(env, `${scheme}_proxy`);
    return value === '' ? undefined : HttpProxy.parse(value, variable);
  };
  const http = proxyOf('http');
  const https = proxyOf('https');
  const [, exclude] = given(env, 'no_proxy');
  return {
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    bypass: parseNoProxy(exclude),
  };
}

/** The proxy for a URL; undefined when it is to be called directly. */
export function proxyFor(url: URL, { http, https, bypass }: ProxySettings): HttpProxy | undefined {
  const secure = url.protocol === 'https:';
  const proxy = secure ? https : http;
  if (proxy === undefined) return undefined;
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return bypass(url.hostname.replace(/^\[(.*)\]$/, '$1'), port) ? undefined : proxy;
}

function given(env: Readonly<Record<string, string | undefined>>, name: string): [string, string] {
  const capitals = env[name.toUpperCase()]?.trim() ?? '';
  return capitals === '' ? [name, env[name]?.trim() ?? ''] : [name.toUpperCase(), capitals];
}

function authorizationOf(url: URL, variable: string): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  try {
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(user).toString('base64')}`;
  } catch {
    throw new ProxySettingError(variable, 'holds a % that is no escape');
  }
}
