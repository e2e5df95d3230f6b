import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../api/reasons.ts';
import type { AnyStatus } from './next-status.ts';
import { transitionOf } from './transition.ts';

function status(type: string, reason: Reason, more: object = {}): AnyStatus {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  return {
    observedGeneration: 1,
    conditions: [{ type, status: 'True', reason, message: 'Why', lastTransitionTime }],
    ...more,
  };
}

const SETTLED = status('Ready', 'Settled', { id: 'r1' });

describe('a line of the log', () => {
  it('tells that a resource became Ready, with its record', () => {
    expect(transitionOf('Box', status('Reconciling', 'Creating'), SETTLED)).toEqual({
      level: 'info',
      message: 'Ready: Settled',
      fields: { id: 'r1', record: 'known' },
    });
  });

  it('tells why one is stalled', () => {
    expect(transitionOf('Box', SETTLED, status('Stalled', 'NameTaken', { id: 'r1' }))).toMatchObject({
      message: 'Stalled: NameTaken',
      fields: { id: 'r1', why: 'Why' },
    });
  });

  it('tells when an operation begins and how it ends', () => {
    const currentOperation = { event: 'reinstall', startedAt: 'now' };
    const working = status('Reconciling', 'Reinstalling', { id: 'r1', currentOperation });
    expect(transitionOf('Box', SETTLED, working)?.fields).toMatchObject({ begun: 'reinstall' });
    const lastOperation = { event: 'reinstall', outcome: 'Failed' };
    const failed = status('Stalled', 'OperationFailed', { id: 'r1', lastOperation });
    expect(transitionOf('Box', working, failed)?.fields).toMatchObject({
      ended: 'reinstall',
      outcome: 'Failed',
    });
  });

  it('says nothing of a write that changes nothing that a person cares for', () => {
    expect(transitionOf('Box', SETTLED, { ...SETTLED, lastHandledRequest: 'x' })).toBeUndefined();
    expect(transitionOf('Box', SETTLED, { observedGeneration: 1 })).toBeUndefined();
  });

  it('keeps quiet, but for who looks closer, of what befalls all resources of a connection', () => {
    for (const reason of ['ServiceUnavailable', 'Throttled', 'Pending'] as const) {
      expect(transitionOf('Box', SETTLED, status('Reconciling', reason, { id: 'r1' }))?.level).toBe('debug');
    }
    const down = status('Reconciling', 'ServiceUnavailable');
    expect(transitionOf('Connection', SETTLED, down)?.level).toBe('info');
    expect(transitionOf('Box', SETTLED, status('Ready', 'Paused', { id: 'r1' }))?.level).toBe('info');
  });
});
