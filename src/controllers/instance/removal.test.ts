import { describe, expect, it } from 'vitest';
import type { Instance } from '../../api/instance.ts';
import { decideRemoval, type RemovalObservation } from './removal.ts';

const MINUTE = 60_000;

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
    isRefused: () => false,
    terminateNoted: undefined,
    waitedMs: 0,
    poll: { processingMs: 5_000, settledMs: 600_000 },
    nextLook: { afterMs: 5_000, isLearnt: false },
    ...rest,
  });
  if (step.kind === 'send') return step.how;
  if (step.kind === 'wait') return step.verdict.reason;
  return step.kind === 'note' ? `try ${step.fields.terminateTries}` : step.kind;
}

const isRefused = (how: string): boolean => how === 'terminate';

describe('deleting an instance', () => {
  it('terminates what is online, deletes what is terminated', () => {
    expect(remove('done+deploy')).toBe('terminate');
    expect(remove('done+terminate_service')).toBe('delete');
    expect(remove('done+terminate', { deletion: 'Terminate' })).toBe('release');
  });

  it('waits for what runs, and forces it only when told after how long', () => {
    const late = { waitedMs: 16 * MINUTE };
    expect(remove('processing+deploy', late)).toBe('Deleting');
    expect(remove('processing+deploy', { ...late, force: '15m' })).toBe('force_terminate');
    expect(remove('processing+deploy', { force: '15m' })).toBe('Deleting');
  });

  it('tries a failed terminate three times, counted before each is sent', () => {
    expect(remove('unavailable+terminate')).toBe('try 1');
    expect(remove('unavailable+terminate', { tries: 1, terminateNoted: 1 })).toBe('terminate');
    expect(remove('unavailable+terminate_service', { tries: 1 })).toBe('try 2');
    expect(remove('unavailable+terminate', { tries: 3, terminateNoted: 3 })).toBe('terminate');
    expect(remove('unavailable+terminate', { tries: 3 })).toBe('NeedsUser');
    expect(remove('unavailable+terminate', { tries: 3, force: '15m' })).toBe('force_terminate');
  });

  it('terminates any other pair, and forces it after a 409 only where no script can run', () => {
    for (const pair of [
      'done+shutdown',
      'done+shutdown_service',
      'unavailable+deploy',
      'unavailable+shutdown',
    ]) {
      expect(remove(pair)).toBe('terminate');
      expect(remove(pair, { isRefused })).toBe('force_terminate');
    }
    // Scripts can run on what is online: a 409 there is looked at again.
    expect(remove('done+deploy', { isRefused })).toBe('terminate');
  });

  it('takes a 409 on any other pair for a failed terminate: three in all, then force where told, or a person', () => {
    for (const pair of [
      'unavailable+poweron',
      'unavailable+reinstall',
      'done+migrate',
      'unavailable+',
      'paused+deploy',
    ]) {
      expect(remove(pair)).toBe('terminate');
      expect(remove(pair, { isRefused })).toBe('try 1');
      expect(remove(pair, { isRefused, tries: 1, terminateNoted: 1 })).toBe('terminate');
      expect(remove(pair, { isRefused, tries: 2 })).toBe('NeedsUser');
      expect(remove(pair, { isRefused, tries: 2, force: '15m' })).toBe('force_terminate');
    }
  });
});
