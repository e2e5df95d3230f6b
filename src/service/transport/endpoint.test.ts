import { describe, expect, it } from 'vitest';
import { createAddressCheck } from './addresses.ts';
import { canonicalEndpoint, EndpointError, parseEndpoint } from './endpoint.ts';

const any = { allowedHosts: ['*:*'] };

describe('endpoints', () => {
  it('keeps origin and base path', () => {
    expect(parseEndpoint('https://deploy.example.com:8443/cda/', any)).toEqual({
      origin: 'https://deploy.example.com:8443',
      host: 'deploy.example.com',
      base: '/cda',
    });
  });

  it.each([
    ['nonsense', any, 'EndpointInvalid'],
    ['ftp://x', any, 'EndpointInvalid'],
    ['https://user:CANARY@x', any, 'EndpointInvalid'],
    ['https://x/?a=b', any, 'EndpointInvalid'],
    ['https://x/#a', any, 'EndpointInvalid'],
    ['http://x', any, 'EndpointInsecure'],
    ['https://x', { allowedHosts: ['y'] }, 'HostNotAllowed'],
    ['https://x', { allowedHosts: [] }, 'HostNotAllowed'],
    ['https://x:8443', { allowedHosts: ['x', '*'] }, 'HostNotAllowed'],
    ['https://x', { allowedHosts: ['x:8443'] }, 'HostNotAllowed'],
    ['https://127.0.0.1', any, 'HostNotAllowed'],
    ['https://2130706433', any, 'HostNotAllowed'],
    ['https://0x7f.1', any, 'HostNotAllowed'],
    ['https://[::1]', any, 'HostNotAllowed'],
    ['https://[::ffff:127.0.0.1]', any, 'HostNotAllowed'],
    ['https://169.254.169.254', { ...any, allowLoopback: true }, 'HostNotAllowed'],
  ])('refuses %s', (endpoint, rules, code) => {
    const error = (() => {
      try {
        return parseEndpoint(endpoint, rules);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(EndpointError);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain('CANARY');
  });

  it('takes plain http and loopback when both are allowed', () => {
    const rules = { ...any, allowInsecure: true, allowLoopback: true };
    expect(parseEndpoint('http://127.0.0.1:8080', rules).origin).toBe('http://127.0.0.1:8080');
    expect(parseEndpoint('http://[::1]:8080', rules).host).toBe('::1');
  });
});

describe('addresses', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.0.9', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['169.254.170.23', 'metadata'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['64:ff9b::169.254.169.254', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec2::23', 'metadata'],
    ['fd00:ec2::253', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fd00:c1::a9fe:a9fe', 'metadata'],
    ['fd00:42::42', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'link-local'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['localhost', 'not an address'],
  ])('refuses %s', (address, why) => {
    expect(createAddressCheck(false)(address)).toBe(why);
  });

  // Every block of the IANA registries of special-purpose addresses that is neither private nor shared, first and last.
  it.each([
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.31.196.0', '192.31.196.255'],
    ['192.52.193.0', '192.52.193.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.175.48.0', '192.175.48.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['240.0.0.0', '255.255.255.254'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::', '2002:7f00:1::'],
    ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    // Other spellings of an IPv4 address, which no resolver needs: compatible, translated.
    ['::127.0.0.1', '::10.0.0.1'],
    ['::ffff:0:127.0.0.1', '::ffff:0:169.254.169.254'],
    // What nobody has been given.
    ['4000::1', 'fbff::1'],
  ])('refuses the reserved block of %s to %s, also behind NAT64 and mapped', (...block) => {
    const check = createAddressCheck(true);
    const spellings = block.flatMap((address) =>
      address.includes(':') ? [address] : [address, `::ffff:${address}`, `64:ff9b::${address}`],
    );
    expect(spellings.filter((address) => check(address) !== 'reserved')).toEqual([]);
  });

  it.each([
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '93.184.216.34',
    '192.0.1.1',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    'fd12:3456::1',
    '::ffff:10.0.0.1',
    '64:ff9b::5db8:d822',
  ])('lets %s pass', (address) => {
    expect(createAddressCheck(false)(address)).toBeUndefined();
  });

  it('lets loopback pass when allowed, and nothing else with it', () => {
    const check = createAddressCheck(true);
    expect(check('127.0.0.1')).toBeUndefined();
    expect(check('::1')).toBeUndefined();
    expect(check('::ffff:127.0.0.1')).toBeUndefined();
    expect(check('169.254.169.254')).toBe('metadata');
    expect(check('0.0.0.0')).toBe('unspecified');
  });
});

describe('the one spelling of an endpoint', () => {
  it.each([
    ['https://Deploy.Example.com', 'https://deploy.example.com'],
    ['https://deploy.example.com:443/', 'https://deploy.example.com'],
    ['http://deploy.example.com.:80', 'http://deploy.example.com'],
    ['http://deploy.example.com:443', 'http://deploy.example.com:443'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example'],
    ['https://0x0a.1:8443', 'https://10.0.0.1:8443'],
    ['https://[FD00:0::7]', 'https://[fd00::7]'],
    ['https://host/%63da//x/./y/../', 'https://host/cda/x'],
    ['https://host/a%2fb%C3%A9', 'https://host/a%2Fb%C3%A9'],
    ['https://host/Cda', 'https://host/Cda'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalEndpoint(text)).toBe(canonical);
    expect(canonicalEndpoint(canonical)).toBe(canonical);
  });

  it.each(['nonsense', 'ftp://Host', 'https://a:b@Host', 'https://Host?x', 'https://.'])(
    'is none of what can be no endpoint: %s',
    (text) => {
      expect(canonicalEndpoint(text)).toBe(text);
    },
  );
});
