import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { createServiceClient } from '../client.ts';
import type { ServiceClient } from '../client.ts';
import { json, raw, ScriptedPort } from '../scripted-port.ts';
import type { Line } from '../scripted-port.ts';

const record = { url: '/services/blobs/download/5f/a%20b.sh', length: 3, content_type: null };

function setup(line: Line): { client: ServiceClient; port: ScriptedPort } {
  const port = new ScriptedPort(() => line);
  const clock = new VirtualClock();
  return {
    port,
    client: createServiceClient({ port, credentials: { kind: 'token', token: 't' }, clock, random: () => 0 }),
  };
}

it('uploads bytes as they are under the encoded name', async () => {
  const { client, port } = setup(json(200, record));
  const bytes = Buffer.from([0, 255, 10]);
  const write = await client.blobs.uploadRaw({ name: 'a b.sh', bytes, contentType: 'text/x-sh' });
  expect(write).toMatchObject({ kind: 'ok', record });
  expect(port.requests[0]).toMatchObject({ path: '/services/blobs/upload/a%20b.sh', body: bytes });
  expect(port.requests[0]?.headers['content-type']).toBe('text/x-sh');
});

it('downloads what a blob record names, encoded once', async () => {
  const { client, port } = setup(raw(200, 'abc'));
  const read = await client.blobs.download(record.url);
  expect(read.kind === 'found' && Buffer.from(read.record).toString()).toBe('abc');
  expect(port.requests[0]?.path).toBe('/services/blobs/download/5f/a%20b.sh');
});

it.each([
  'https://evil.example.com/services/blobs/download/5f/x',
  '/services/blobs/download/../../boxes',
  '/services/blobs/download/5f/%2e%2e',
  '/services/blobs/download/5f/a%2Fb',
  '/services/blobs/download/5f/x?y',
  '/services/boxes',
])('does not follow %s', async (url) => {
  const { client, port } = setup(raw(200, 'abc'));
  expect(await client.blobs.download(url)).toMatchObject({ kind: 'unknown', error: { code: 'BadId' } });
  expect(port.requests).toHaveLength(0);
});

it('takes a blob record without url for no answer', async () => {
  const { client } = setup(json(200, { length: 3 }));
  const write = await client.blobs.uploadRaw({ name: 'x', bytes: Buffer.from('abc') });
  expect(write).toMatchObject({ kind: 'unknown', error: { code: 'BadAnswer' } });
});

it('takes no blob record that is larger than anybody means: it is kept', async () => {
  const { client, port } = setup(json(200, { url: `/services/blobs/download/5f/${'x'.repeat(3_000)}` }));
  const write = await client.blobs.uploadRaw({ name: 'x', bytes: Buffer.from('abc') });
  expect(write).toMatchObject({ kind: 'unknown', error: { code: 'BadAnswer' } });
  expect(port.requests[0]?.maxBytes).toBe(16_384);
});
