import { describe, expect, it } from 'vitest';
import { Priority } from '../../base/priority.ts';
import {
  ServiceError,
  type BlobRecord,
  type CallOptions,
  type Upload,
  type Write,
} from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import { blobOf, upload, type Uploading, type Uploads } from './uploads.ts';
import { testFile } from './test-file.ts';
import type { DesiredFile } from './variables.ts';

const file = (content: string): DesiredFile => testFile('events.install', content);
const BLOB: BlobRecord = { url: '/services/blobs/download/1/install', length: 3 };
const signal = new AbortController().signal;

const stale = (): { hmac: string; url: string } => ({
  hmac: 'key:two',
  url: '/services/blobs/download/0/old',
});

function passOf(handle: ConnectionHandle, uploads: Uploads): Uploading {
  return { handle, memory: { uploads }, priority: new Priority('edit'), signal };
}

/** A connection whose uploads are answered so, and what was sent over it. */
function handleThat(answers: Write<BlobRecord>): {
  handle: ConnectionHandle;
  sent: Upload[];
  lanes: (string | undefined)[];
} {
  const sent: Upload[] = [];
  const lanes: (string | undefined)[] = [];
  const uploadRaw = (what: Upload, { priority }: CallOptions): Promise<Write<BlobRecord>> => {
    sent.push(what);
    lanes.push(priority?.lane);
    return Promise.resolve(answers);
  };
  return { handle: { client: { blobs: { uploadRaw } } } as unknown as ConnectionHandle, sent, lanes };
}

describe('a file that was uploaded', () => {
  it('is known from then on, until its content is another', async () => {
    const uploads: Uploads = new Map();
    const { handle, sent } = handleThat({ kind: 'ok', record: BLOB, startedAt: 0, endedAt: 1 });
    await upload(passOf(handle, uploads), file('one'));
    expect(sent).toEqual([{ name: 'install', bytes: Buffer.from('one'), contentType: 'text/x-shellscript' }]);
    expect(blobOf(file('one'), uploads, () => undefined)).toEqual(BLOB);
    expect(blobOf(file('two'), uploads, () => undefined)).toBeUndefined();
  });

  it('is found by what status says after a restart', () => {
    const noted = (path: string): { hmac: string; url: string } | undefined =>
      path === 'events.install' ? { hmac: 'key:one', url: BLOB.url } : undefined;
    expect(blobOf(file('one'), new Map(), noted)).toEqual({ url: BLOB.url });
    expect(blobOf(file('two'), new Map(), noted)).toBeUndefined();
  });

  it('counts as what this process uploaded last, whatever status says still', () => {
    const uploads: Uploads = new Map([['events.install', { hmac: 'inner:two', blob: BLOB }]]);
    expect(blobOf(file('two'), uploads, stale)).toEqual(BLOB);
  });
});

it('goes up in the lane of the pass that it is for', async () => {
  const { handle, lanes } = handleThat({ kind: 'ok', record: BLOB, startedAt: 0, endedAt: 1 });
  await upload(passOf(handle, new Map()), file('one'));
  expect(lanes).toEqual(['edit']);
});

describe('a file whose content has changed since it was looked at', () => {
  it.each([
    ['is another', testFile('events.install', 'one', { now: 'two' })],
    [
      'is gone',
      testFile('events.install', 'one', {
        open: () => Promise.resolve({ kind: 'missing', message: 'ConfigMap "web" does not exist' }),
      }),
    ],
  ])('is not sent: it %s', async (_, changed) => {
    const uploads: Uploads = new Map();
    const { handle, sent } = handleThat({ kind: 'ok', record: BLOB, startedAt: 0, endedAt: 1 });
    const write = await upload(passOf(handle, uploads), changed);
    expect(write).toMatchObject({ kind: 'notSent', error: { code: 'ContentChanged' } });
    expect([sent, uploads.size]).toEqual([[], 0]);
  });
});

describe('an upload without a blob in its answer', () => {
  it.each<Write<BlobRecord>>([
    { kind: 'ok', record: undefined, startedAt: 0, endedAt: 1 },
    {
      kind: 'notSent',
      error: new ServiceError({ code: 'Unreachable', method: 'POST', template: '/services/blobs' }),
    },
  ])('leaves the file to be uploaded again ($kind)', async (answers) => {
    const uploads: Uploads = new Map();
    const { handle } = handleThat(answers);
    expect(await upload(passOf(handle, uploads), file('one'))).toEqual(answers);
    expect(blobOf(file('one'), uploads, () => undefined)).toBeUndefined();
  });
});

it('are known for as many files as a resource can have, however often they are renamed', async () => {
  const uploads: Uploads = new Map();
  const { handle } = handleThat({ kind: 'ok', record: BLOB, startedAt: 0, endedAt: 1 });
  for (let i = 0; i < 1_000; i++) {
    await upload(passOf(handle, uploads), testFile(`variables.F${i}`, 'one'));
    await upload(passOf(handle, uploads), file('one'));
  }
  expect(uploads.size).toBe(250);
  expect(blobOf(file('one'), uploads, () => undefined)).toEqual(BLOB);
});
