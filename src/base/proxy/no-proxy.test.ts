import { describe, expect, it } from 'vitest';
import { parseNoProxy } from './no-proxy.ts';

describe('NO_PROXY', () => {
  it.each([
    ['example.com', 'example.com', 443],
    ['example.com', 'deploy.example.com', 443],
    ['Example.COM', 'EXAMPLE.com.', 443],
    ['.example.com', 'deploy.example.com', 443],
    ['*.example.com', 'a.deploy.example.com', 443],
    ['example.com:8443', 'example.com', 8_443],
    ['10.1.2.3', '10.1.2.3', 443],
    ['10.1.2.3:8443', '10.1.2.3', 8_443],
    ['10.0.0.0/8', '10.200.0.1', 443],
    ['10.0.0.0/8', '::ffff:a01:203', 443],
    ['fd00::/8', 'fd12::1', 443],
    ['[fd12::1]:443', 'fd12::1', 443],
    ['fd12::1', 'fd12:0::1', 443],
    [' other , example.com ', 'example.com', 443],
    ['other,*', 'anything', 443],
    ['', 'localhost', 443],
    ['', '127.8.8.8', 443],
    ['', '::1', 443],
    ['', '0:0:0:0:0:0:0:1', 443],
    ['', '::ffff:127.0.0.1', 443],
    ['', '::ffff:7f08:808', 443],
    ['', 'localhost.', 443],
    ['', 'LOCALHOST', 443],
    ['example.com.', 'example.com', 443],
    ['example.com.', 'deploy.example.com.', 443],
    ['.example.com.', 'deploy.example.com', 443],
    ['*.example.com.:8443', 'deploy.example.com', 8_443],
    ['example.com.:8443', 'example.com.', 8_443],
    ['::ffff:10.1.2.3', '10.1.2.3', 443],
    ['10.1.2.3', '::ffff:10.1.2.3', 443],
  ])('%j has %s:%i called directly', (text, host, port) => {
    expect(parseNoProxy(text)(host, port)).toBe(true);
  });

  it.each([
    ['', 'example.com', 443],
    [' , ,', 'example.com', 443],
    ['.example.com', 'example.com', 443],
    ['*.example.com', 'example.com', 443],
    ['example.com', 'badexample.com', 443],
    ['example.com', 'example.com.evil.net', 443],
    ['example.com:8443', 'example.com', 443],
    ['10.1.2.3:8443', '10.1.2.3', 443],
    ['10.0.0.0/8', '11.0.0.1', 443],
    ['10.0.0.0/33', '10.0.0.1', 443],
    ['nonsense/8', 'nonsense', 443],
    ['0.0.1', '10.0.0.1', 443],
    ['10.0.0.0/8', 'ten.example.com', 443],
    ['', '128.0.0.1', 443],
    ['', '::ffff:128.0.0.1', 443],
    ['', '::2', 443],
    ['', 'localhost.example.com', 443],
    ['.', 'example.com', 443],
    ['*.', 'example.com', 443],
    ['example.com..', 'example.com', 443],
  ])('%j has %s:%i called through the proxy', (text, host, port) => {
    expect(parseNoProxy(text)(host, port)).toBe(false);
  });
});
