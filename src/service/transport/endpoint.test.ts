import { describe, expect, it } from 'vitest';
import { createAddressCheck } from './addresses.ts';
import { EndpointError, parseEndpoint } from './endpoint.ts';

const any = { allowedHosts: ['*'] };

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
    ['::127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['169.254.169.254', 'metadata'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['localhost', 'not an address'],
  ])('refuses %s', (address, why) => {
    expect(createAddressCheck(false)(address)).toBe(why);
  });

  it.each(['10.1.2.3', '192.168.0.1', '93.184.216.34', '2606:4700::1111', 'fd12:3456::1', '::ffff:10.0.0.1'])(
    'lets %s pass',
    (address) => {
      expect(createAddressCheck(false)(address)).toBeUndefined();
    },
  );

  it('lets loopback pass when allowed, and nothing else with it', () => {
    const check = createAddressCheck(true);
    expect(check('127.0.0.1')).toBeUndefined();
    expect(check('::ffff:127.0.0.1')).toBeUndefined();
    expect(check('169.254.169.254')).toBe('metadata');
    expect(check('0.0.0.0')).toBe('unspecified');
  });
});
