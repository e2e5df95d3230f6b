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

const READ = { source: NOTE, sealed: true };

const OWN = { uid: 'own', record: 'i-1' };

function annotated(text: string | null | undefined, uid = OWN.uid): Pick<Instance, 'metadata'> {
  const annotations = typeof text === 'string' ? { [ANNOTATIONS.deployedLease]: text } : {};
  return { metadata: { uid, annotations } } as Pick<Instance, 'metadata'>;
}

function written(note: Record<string, string> | undefined): string | null | undefined {
  return deployedLease(note, OWN)[ANNOTATIONS.deployedLease];
}

function edited(change: object): string {
  return JSON.stringify({ ...(JSON.parse(written({ ...NOTE }) ?? '') as object), ...change });
}

describe('the note of a lease that an instance is deployed with', () => {
  it('comes back from its annotation as it was written', () => {
    expect(deployedSource(annotated(written({ ...NOTE })), OWN.record)).toEqual(READ);
    const endless = sourceNote({ source: SOURCE, terms: termsHash(SOURCE), expire: undefined });
    expect(deployedSource(annotated(written({ ...endless })), OWN.record)).toEqual({
      source: endless,
      sealed: true,
    });
  });

  it('is taken off by a deploy without a lease, and by an intent whose note was damaged', () => {
    expect(written(undefined)).toBeNull();
    expect(written({ ...NOTE, expire: 'soon' })).toBeNull();
    expect(written({ kind: 'Instance' })).toBeNull();
    expect(deployedSource(annotated(undefined), OWN.record)).toBeUndefined();
  });

  it.each([
    'no json',
    '[]',
    'null',
    '{"kind":"Other"}',
    JSON.stringify({ ...NOTE, uid: 5 }),
    '{"kind":"Instance"}',
    JSON.stringify({ ...NOTE, seal: 'other' }),
  ])('counts for nothing when it was damaged: %s', (text) => {
    expect(deployedSource(annotated(text), OWN.record)).toBeUndefined();
  });

  it.each([
    { expire: 'soon' },
    { expire: '2026-01-01T13:00:00Z' },
    { terms: 'other' },
    { uid: 'u-2' },
    { deletionPolicy: 'Orphan' },
    { kind: 'Instance' },
    { name: 'days' },
  ])('counts for nothing when it was edited: %o', (change) => {
    expect(deployedSource(annotated(edited({})), OWN.record)).toEqual(READ);
    expect(deployedSource(annotated(edited(change)), OWN.record)).toBeUndefined();
  });

  it('of an earlier version, without a seal, is told apart', () => {
    expect(deployedSource(annotated(JSON.stringify(NOTE)), OWN.record)).toEqual({
      source: NOTE,
      sealed: false,
    });
  });

  it('counts for nothing on another resource, and for another record', () => {
    const text = written({ ...NOTE });
    expect(deployedSource(annotated(text, 'other'), OWN.record)).toBeUndefined();
    expect(deployedSource(annotated(text), 'i-2')).toBeUndefined();
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
