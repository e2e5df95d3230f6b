import { describe, expect, it } from 'vitest';
import type { WatchedResource } from './resource.ts';
import { rowOf } from './row.ts';

const MADE = Date.UTC(2026, 0, 1);

function resource(generation: number, status?: WatchedResource['status']): WatchedResource {
  return {
    kind: 'Instance',
    metadata: {
      name: 'web',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: new Date(MADE).toISOString(),
      generation,
    },
    ...(status === undefined ? {} : { status }),
  };
}

function ready(status: string, observedGeneration: number): WatchedResource['status'] {
  const condition = { type: 'Ready', status, reason: 'Settled', message: 'As declared', observedGeneration };
  return { observedGeneration, conditions: [condition], phase: 'Online', address: '10.0.0.7' };
}

describe('a row', () => {
  it('tells what the status says', () => {
    expect(rowOf(resource(1, ready('True', 1)), MADE + 65_000)).toEqual({
      kind: 'Instance',
      name: 'web',
      ready: 'True',
      stalled: false,
      reason: 'Settled',
      message: '',
      phase: 'Online',
      address: '10.0.0.7',
      age: '1m5s',
    });
  });

  it('says why it is not ready', () => {
    expect(rowOf(resource(1, ready('False', 1)), MADE)).toMatchObject({
      ready: 'False',
      message: 'As declared',
    });
  });

  it('lets no message write to the terminal', () => {
    const status = ready('False', 1);
    const [condition] = status?.conditions ?? [];
    const message = 'No \u001b[2Jroom\nleft';
    const conditions = condition === undefined ? [] : [{ ...condition, message }];
    const said = { ...status, conditions, phase: 'On\u001b[1mline', address: '10.0.0.7\u0007' };
    expect(rowOf(resource(1, said), MADE)).toMatchObject({
      message: 'No room left',
      phase: 'Online',
      address: '10.0.0.7',
    });
  });

  it('tells a resource that is stalled from one that is under way', () => {
    const status = ready('False', 1);
    const stalled = { type: 'Stalled', status: 'True', reason: 'NeedsUser', message: 'Edit it' };
    const given = { ...status, conditions: [...(status?.conditions ?? []), stalled] };
    expect(rowOf(resource(1, given), MADE).stalled).toBe(true);
    expect(rowOf(resource(2, given), MADE).stalled).toBe(false);
    expect(rowOf(resource(1, status), MADE).stalled).toBe(false);
  });

  it('counts what was said of an older generation as unknown', () => {
    expect(rowOf(resource(2, ready('True', 1)), MADE)).toMatchObject({ ready: 'Unknown', reason: '' });
  });

  it('knows nothing of an untouched resource', () => {
    expect(rowOf(resource(1), MADE)).toMatchObject({ ready: 'Unknown', phase: '' });
  });
});
