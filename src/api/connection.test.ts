import { describe, expect, it } from 'vitest';
import { parseConnection } from './connection.ts';

function problems(headers: Record<string, string>): readonly string[] {
  const spec = { endpoint: 'https://deploy.example.com', credentialsRef: { name: 'login' }, headers };
  const metadata = {
    name: 'main',
    namespace: 'shop',
    uid: '1',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-01T00:00:00Z',
  };
  const parsed = parseConnection({ metadata, spec });
  return parsed.ok ? [] : parsed.problems.map(({ path }) => path);
}

/** What routes, overrides, ends at the next proxy or belongs to HTTP; S10. */
const FOREIGN = [
  'Host',
  'X-Forwarded-Host',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Token',
  'Forwarded',
  'Via',
  'X-Real-IP',
  'X-Original-URL',
  'X-Original-Host',
  'X-Rewrite-URL',
  'X-HTTP-Method',
  'X-HTTP-Method-Override',
  'X-Method-Override',
  'X-Envoy-Original-Path',
  'Connection',
  'Keep-Alive',
  'Proxy-Authorization',
  'Proxy-Auth',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'Content-Length',
  'Content-Type',
  'Content-Version',
  'Expect',
  'Cookie',
  'Accept',
  'User-Agent',
  'Range',
  'If-Match',
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Version',
  'X-Cluster-Client-IP',
  'CF-Connecting-IP',
  'X-Host',
  'Destination',
  'Token:',
  'X Token',
  'X-Token\r\nHost',
];

// The second look: the API server's own may come from an older schema.
describe('the names of headers in a Connection', () => {
  it.each(FOREIGN)('are not %j', (name) => {
    expect(problems({ token: name })).toEqual(['spec.headers.token']);
    expect(problems({ release: name })).toEqual(['spec.headers.release']);
  });

  it.each(['Service-Token', 'X-Old-Token', 'x-auth-token', 'Token', 'Api-Key', 'Authorization', 'X-Auth'])(
    'may be %s for a token, and not for a release',
    (name) => {
      expect(problems({ token: name })).toEqual([]);
      expect(problems({ release: name })).toEqual(['spec.headers.release']);
    },
  );

  it.each(['Service-Release', 'X-Old-Release', 'Api-Version', 'release'])(
    'may be %s for a release, and not for a token',
    (name) => {
      expect(problems({ release: name })).toEqual([]);
      expect(problems({ token: name })).toEqual(['spec.headers.token']);
    },
  );
});
