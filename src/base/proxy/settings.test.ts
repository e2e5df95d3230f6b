import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { proxyFor, ProxySettingError, readProxySettings } from './settings.ts';

describe('the proxy variables', () => {
  it('name a proxy for each scheme, in capitals or else in small letters', () => {
    const settings = readProxySettings({
      HTTPS_PROXY: 'http://one.example.com:3128',
      https_proxy: 'http://not-this.example.com',
      HTTP_PROXY: '',
      http_proxy: 'two.example.com:8080',
      no_proxy: 'internal.example.com',
    });
    const through = (url: string): string | undefined => proxyFor(new URL(url), settings)?.address;
    expect(through('https://deploy.example.com')).toBe('one.example.com:3128');
    expect(through('http://deploy.example.com')).toBe('two.example.com:8080');
    expect(through('https://internal.example.com:8443')).toBeUndefined();
    expect(through('https://127.0.0.1')).toBeUndefined();
  });

  it('have https called directly where only the other is set', () => {
    const settings = readProxySettings({ HTTP_PROXY: 'http://proxy:3128' });
    expect(proxyFor(new URL('https://deploy.example.com'), settings)).toBeUndefined();
  });

  it.each([
    ['http://proxy', 'proxy:80', false],
    ['https://proxy', 'proxy:443', true],
    ['http://[fd00::1]:3128', '[fd00::1]:3128', false],
    [' proxy:3128 ', 'proxy:3128', false],
  ])('read %s', (value, address, secure) => {
    expect(readProxySettings({ HTTPS_PROXY: value }).https).toMatchObject({ address, secure });
  });

  it('give credentials to the proxy, and to nothing that prints it', () => {
    const { https } = readProxySettings({ HTTPS_PROXY: 'http://me:CANARY%40x@proxy:3128' });
    const basic = Buffer.from('me:CANARY@x').toString('base64');
    expect(https?.headers()).toEqual({ 'proxy-authorization': `Basic ${basic}` });
    for (const printed of [JSON.stringify(https), inspect(https, { showHidden: true, depth: 9 })]) {
      expect(printed).toContain('proxy');
      expect(printed).not.toContain('CANARY');
      expect(printed).not.toContain(basic);
    }
  });

  it.each([
    ['socks5://CANARY@proxy', 'https_proxy names a proxy of kind socks5'],
    ['http://me:CANARY%ZZ@proxy', 'https_proxy holds a % that is no escape'],
    ['http://CANARY@', 'https_proxy is not a URL'],
    ['http://me:CANARY@ho st', 'https_proxy is not a URL'],
  ])('are refused with their name and without their value: %s', (value, message) => {
    const read = (): unknown => readProxySettings({ https_proxy: value });
    expect(read).toThrow(ProxySettingError);
    expect(read).toThrow(message);
    expect(read).not.toThrow('CANARY');
  });
});
