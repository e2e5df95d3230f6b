import { describe, expect, it } from 'vitest';
import { hostAllowed, readAllowedHost } from './hosts.ts';

function allows(endpoint: string, entries: readonly string[]): boolean {
  const url = new URL(endpoint);
  return hostAllowed(url, url.protocol === 'https:' ? 443 : 80, entries);
}

it.each([
  ['https://deploy.example.com', ['deploy.example.com']],
  ['https://DEPLOY.example.com.', ['deploy.Example.com']],
  ['https://a.example.com', ['*.example.com']],
  ['https://a.b.example.com', ['other', '*.example.com']],
  ['https://10.0.0.1', ['10.0.0.1']],
  ['https://[::1]', ['::1']],
  ['https://[fd00::1]', ['fd00:0:0::1']],
  ['https://[fd00::1]:8443', ['[fd00::1]:8443']],
  ['https://anything', ['*']],
  ['https://xn--bcher-kva.example', ['xn--bcher-kva.example']],
  ['https://deploy.example.com:443', ['deploy.example.com']],
  ['https://deploy.example.com', ['deploy.example.com:443']],
  ['http://deploy.example.com', ['deploy.example.com:80']],
  ['https://deploy.example.com:8443', ['deploy.example.com', 'deploy.example.com:8443']],
  ['https://a.example.com:8443', ['*.example.com:8443']],
  ['https://a.example.com:1', ['*.example.com:*']],
  ['https://anything:8443', ['*:8443']],
  ['https://[::1]:9', ['[::1]:*']],
])('lets %s through %j', (endpoint, entries) => {
  expect(allows(endpoint, entries)).toBe(true);
});

it.each([
  ['https://example.com', []],
  ['https://example.com', ['']],
  ['https://example.com', ['*.example.com']],
  ['https://evilexample.com', ['*.example.com', 'example.com']],
  ['https://example.com.evil.net', ['example.com', '*.example.com']],
  ['https://a.example.com', ['*.*.com', '*example.com', '*.']],
  ['https://deploy.example.com', ['.example.com', 'eploy.example.com']],
  // S10: without a port, the scheme's own and no other.
  ['https://deploy.example.com:8443', ['deploy.example.com', '*.example.com', '*', 'deploy.example.com:443']],
  ['https://deploy.example.com:80', ['deploy.example.com']],
  ['https://deploy.example.com', ['deploy.example.com:8443']],
  ['http://deploy.example.com', ['deploy.example.com:443']],
  ['http://deploy.example.com:443', ['deploy.example.com']],
  ['https://[fd00::1]:8443', ['fd00::1', '[fd00::1]']],
  ['https://evil.net:8443', ['deploy.example.com:8443']],
])('keeps %s from %j', (endpoint, entries) => {
  expect(allows(endpoint, entries)).toBe(false);
});

// S12: taken in silence, these would never match.
describe('an entry that no URL can match', () => {
  it.each([
    'https://host',
    'host.',
    'Host ü',
    'bücher.example',
    '',
    ' ',
    ' host',
    'host ',
    'host/path',
    'user@host',
    'host?a',
    'host#a',
    'host:',
    'host:0',
    'host:65536',
    'host:8443:1',
    'host:https',
    'host:-1',
    'host:8443/',
    '*.',
    '*.*.com',
    '**',
    '*host',
    'a.*.com',
    '*.10.0.0.7',
    '10.0.0.07',
    '10.0.7',
    '167772167',
    '0x7f.1',
    '10.0.0.300',
    '[fd00::1',
    'fd00::1]',
    '[10.0.0.1]',
    '[fd00::1%eth0]',
    'fd00::1%eth0',
    '*.[fd00::1]',
    'ho%73t',
    'a..b',
    '.example.com',
    '*..example.com',
    'exa\u00ADmple.com',
    'example。com',
    'a\nb',
    'ex[mple.com',
  ])('is refused: %j', (entry) => {
    const read = readAllowedHost(entry);
    expect(read.kind).toBe('wrong');
  });

  it('is told with what to write instead', () => {
    expect(readAllowedHost('bücher.example')).toMatchObject({
      message: expect.stringContaining('write xn--bcher-kva.example') as string,
    });
    expect(readAllowedHost('host.')).toMatchObject({
      message: expect.stringContaining('write host') as string,
    });
    expect(readAllowedHost('host:99999')).toMatchObject({
      message: expect.stringContaining('1 to 65535') as string,
    });
  });
});
