import { describe, expect, it } from 'vitest';
import type { Instance } from '../../api/instance.ts';
import { decideRemoval, type RemovalObservation } from './removal.ts';

const MINUTE = 60_000;
const DELETED_AT = Date.parse('2026-01-01T00:00:00Z');

function remove(
  pair: string,
  more: Partial<RemovalObservation> & { force?: string; tries?: number; updated?: string } = {},
): string {
  const [state = '', event = ''] = pair.split('+');
  const { force, tries, updated = 'u1', ...rest } = more;
  const step = decideRemoval({
    instance: {
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: force === undefined ? {} : { forceTerminateAfter: force },
      status: tries === undefined ? {} : { terminateTries: tries },
    } as Instance,
    record: { id: 'i', state, operation: { event }, updated },
    deletion: 'Delete',
    removal: undefined,
    terminateNoted: undefined,
    now: DELETED_AT,
    monotonic: 0,
    lagWindowMs: MINUTE,
    processingMs: 5_000,
    ...rest,
  });
  if (step.kind === 'send') return step.how;
  if (step.kind === 'wait') return step.verdict.reason;
  return step.kind === 'note' ? `try ${step.fields.terminateTries}` : step.kind;
}

describe('deleting an instance', () => {
  it('terminates what is online, deletes what is terminated', () => {
    expect(remove('done+deploy')).toBe('terminate');
    expect(remove('done+terminate_service')).toBe('delete');
    expect(remove('done+terminate', { deletion: 'Terminate' })).toBe('release');
  });

  it('sends the same call only once while the record has not moved, for a lag window', () => {
    const sent = { how: 'terminate', updated: 'u1', at: 0, refused: false };
    expect(remove('done+deploy', { removal: sent, monotonic: MINUTE - 1 })).toBe('Deleting');
    expect(remove('done+deploy', { removal: sent, monotonic: MINUTE })).toBe('terminate');
    expect(remove('done+deploy', { removal: sent, updated: 'u2' })).toBe('terminate');
  });

  it('waits for what runs, and forces it only when told after how long', () => {
    const late = { now: DELETED_AT + 16 * MINUTE };
    expect(remove('processing+deploy', late)).toBe('Deleting');
    expect(remove('processing+deploy', { ...late, force: '15m' })).toBe('force_terminate');
    expect(remove('processing+deploy', { force: '15m' })).toBe('Deleting');
  });

  it('does not force again at each move of a record that its force has set in motion', () => {
    const forced = { how: 'force_terminate', updated: 'u1', at: 0, refused: false };
    const late = { now: DELETED_AT + 16 * MINUTE, force: '15m', removal: forced, updated: 'u2' };
    expect(remove('processing+terminate', late)).toBe('Deleting');
    expect(remove('processing+terminate_service', { ...late, updated: 'u3' })).toBe('Deleting');
    expect(remove('processing+terminate_service', { ...late, monotonic: MINUTE })).toBe('force_terminate');
  });

  it('tries a failed terminate three times, counted before each is sent', () => {
    expect(remove('unavailable+terminate')).toBe('try 1');
    expect(remove('unavailable+terminate', { tries: 1, terminateNoted: 1 })).toBe('terminate');
    expect(remove('unavailable+terminate_service', { tries: 1 })).toBe('try 2');
    expect(remove('unavailable+terminate', { tries: 3, terminateNoted: 3 })).toBe('terminate');
    expect(remove('unavailable+terminate', { tries: 3 })).toBe('NeedsUser');
    expect(remove('unavailable+terminate', { tries: 3, force: '15m' })).toBe('force_terminate');
  });

  it('terminates any other pair, and forces it after a 409 on the same pair', () => {
    const refused = { how: 'terminate', updated: 'u1', at: 0, refused: true };
    for (const pair of [
      'done+shutdown',
      'unavailable+deploy',
      'done+migrate',
      'unavailable+',
      'paused+deploy',
    ]) {
      expect(remove(pair)).toBe('terminate');
      expect(remove(pair, { removal: refused })).toBe('force_terminate');
      expect(remove(pair, { removal: refused, updated: 'u2' })).toBe('terminate');
    }
    // Scripts can run on what is online: a 409 there is looked at again.
    expect(remove('done+deploy', { removal: refused })).toBe('terminate');
  });
});
