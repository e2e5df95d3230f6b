import { describe, expect, it } from 'vitest';
import type { Instance } from '../../../api/instance.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import { armedHash, deployedLease, deployedSource, sourceNote, withoutSource } from './note.ts';
import { termsHash, type LeaseSource } from './terms.ts';

const EXPIRE = Date.UTC(2026, 0, 1, 12, 0);
const SOURCE: LeaseSource = {
  kind: 'InstanceLease',
  name: 'nights',
  uid: 'u-1',
  deletionPolicy: 'Delete',
  terms: { operation: 'Shutdown', after: '8h' },
  renew: undefined,
  paused: false,
  warnBefore: undefined,
};
const NOTE = sourceNote({ source: SOURCE, terms: termsHash(SOURCE), expire: EXPIRE });

function annotated(text: string | null | undefined): Pick<Instance, 'metadata'> {
  const annotations = typeof text === 'string' ? { [ANNOTATIONS.deployedLease]: text } : {};
  return { metadata: { annotations } } as Pick<Instance, 'metadata'>;
}

describe('the note of a lease that an instance is deployed with', () => {
  it('comes back from its annotation as it was written', () => {
    expect(deployedSource(annotated(deployedLease(NOTE)[ANNOTATIONS.deployedLease]))).toEqual(NOTE);
    const endless = sourceNote({ source: SOURCE, terms: termsHash(SOURCE), expire: undefined });
    expect(deployedSource(annotated(deployedLease(endless)[ANNOTATIONS.deployedLease]))).toEqual(endless);
  });

  it('is taken off by a deploy without a lease', () => {
    expect(deployedLease(undefined)).toEqual({ [ANNOTATIONS.deployedLease]: null });
    expect(deployedSource(annotated(undefined))).toBeUndefined();
  });

  it.each([
    'no json',
    '[]',
    'null',
    '{"kind":"Other"}',
    JSON.stringify({ ...NOTE, uid: 5 }),
    '{"kind":"Instance"}',
  ])('counts for nothing when it was damaged: %s', (text) => {
    expect(deployedSource(annotated(text))).toBeUndefined();
  });
});

describe('a lease that nobody here declares any more', () => {
  const lease = {
    operation: 'Shutdown' as const,
    expire: '2026-01-01T12:00:00Z',
    released: false,
    source: NOTE,
  };

  it('is shown as the record has it, without a source', () => {
    const record = { id: 'i', lease: { operation: 'shutdown', expire: '2026-01-01 12:00:00.000000' } };
    expect(withoutSource(lease, record)).toEqual({
      operation: 'Shutdown',
      expire: '2026-01-01T12:00:00Z',
      released: false,
    });
  });

  it('is not shown when the record has none', () => {
    expect(withoutSource(lease, { id: 'i' })).toBeUndefined();
    expect(withoutSource(undefined, { id: 'i' })).toBeUndefined();
  });
});

function of(powerState: 'Running' | 'Stopped' | undefined, terms: string | undefined): string {
  return armedHash({ spec: { powerState } } as Instance, terms);
}

describe('what arms power and lease', () => {
  it('differs by power state and by the terms of the lease, and by nothing else', () => {
    const hashes = [
      of('Running', 'a'),
      of('Stopped', 'a'),
      of(undefined, 'a'),
      of('Running', 'b'),
      of('Running', undefined),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(of('Running', 'a')).toBe(of('Running', 'a'));
  });
});
