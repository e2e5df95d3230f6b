import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../api/names.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import { isPaused, policiesOf } from './policies.ts';
import type { ManagedResource } from './resource.ts';

function pausedBy(value: string | undefined, field = false): boolean {
  const annotations = value === undefined ? {} : { [ANNOTATIONS.paused]: value };
  return isPaused({
    metadata: { name: 'web', annotations },
    spec: { paused: field },
  } as unknown as Parameters<typeof isPaused>[0]);
}

describe('a pause', () => {
  it.each(['true', 'True', 'yes', '1', 'on'])('is the annotation with %s', (value) => {
    expect(pausedBy(value)).toBe(true);
  });

  it.each(['false', '', undefined])('is not the annotation with %j, unless the field says so', (value) => {
    expect(pausedBy(value)).toBe(false);
    expect(pausedBy(value, true)).toBe(true);
  });
});

/** What is in force, in two words. */
function inForce(spec: object, noted: object | undefined, defaults: object | undefined): string {
  const resource = { spec, status: { policies: noted } } as unknown as ManagedResource;
  const handle = defaults === undefined ? undefined : ({ defaults } as unknown as ConnectionHandle);
  const { deletion, drift } = policiesOf(resource, handle, 'Hold');
  return `${deletion} ${drift}`;
}

describe('the policies in force', () => {
  const own = { deletionPolicy: 'Orphan', driftPolicy: 'Report' };
  const noted = { deletion: 'Delete', drift: 'Correct' };

  it('are the resource’s own, then the connection’s, whatever status noted before', () => {
    expect(inForce(own, noted, { deletionPolicy: 'Delete', driftPolicy: 'Ignore' })).toBe('Orphan Report');
    expect(inForce({}, noted, { deletionPolicy: 'Orphan', driftPolicy: 'Ignore' })).toBe('Orphan Ignore');
  });

  it('are what status noted only where there is no connection, then the defaults', () => {
    expect(inForce({}, { deletion: 'Orphan', drift: 'Ignore' }, undefined)).toBe('Orphan Ignore');
    expect(inForce({}, undefined, undefined)).toBe('Delete Correct');
    expect(inForce({}, { deletion: 'Delete', drift: 'whatever' }, undefined)).toBe('Delete Correct');
  });
});
