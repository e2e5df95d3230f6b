import { describe, expect, it } from 'vitest';
import type { AnyResource } from '../../api/kinds.ts';
import type { Condition } from '../../api/resource.ts';
import {
  armedLease,
  credentialsFailingSince,
  deletingSince,
  notReadySince,
  runningOperation,
  standingOf,
} from './census.ts';

const AT = '2026-01-01T00:00:00Z';
const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: AT,
});

/** A resource of whichever kind the test asks about. */
function resource(status: object, metadata: object = {}): never {
  return {
    kind: 'Instance',
    metadata: { name: 'a', namespace: 'b', uid: 'u', creationTimestamp: AT, ...metadata },
    status: { observedGeneration: 1, ...status },
  } as unknown as never;
}

const standing = (...conditions: Condition[]): AnyResource => resource({ conditions });

describe('a resource', () => {
  it('stands as its most telling condition says, in words of closed lists', () => {
    expect(standingOf(resource({}))).toEqual({
      ready: 'Unknown',
      state: 'Reconciling',
      reason: 'Pending',
    });
    expect(
      standingOf(
        standing(
          condition('Ready', 'True', 'Settled'),
          condition('Reconciling', 'True', 'ServiceUnavailable'),
        ),
      ),
    ).toEqual({ ready: 'True', state: 'Reconciling', reason: 'ServiceUnavailable' });
    expect(
      standingOf(standing(condition('Ready', 'False', 'Refused'), condition('Stalled', 'True', 'Refused'))),
    ).toEqual({ ready: 'False', state: 'Stalled', reason: 'Refused' });
    expect(standingOf(standing(condition('Ready', 'True', 'Made-up'))).reason).toBe('Other');
    const misfit = {
      ...(resource({ conditions: 'odd' }) as object),
      problems: [{ field: 'spec', message: 'no' }],
    };
    expect(standingOf(misfit as never).state).toBe('Stalled');
  });

  it('is on its way for long only while nobody has to act, has paused it, or deletes it', () => {
    const waiting = condition('Ready', 'False', 'WaitingForReference');
    expect(notReadySince(standing(waiting))).toBe(Date.parse(AT));
    expect(notReadySince(resource({}))).toBe(Date.parse(AT));
    expect(notReadySince(standing(condition('Ready', 'True', 'Settled')))).toBeUndefined();
    expect(notReadySince(standing(condition('Ready', 'False', 'Paused')))).toBeUndefined();
    expect(notReadySince(standing(waiting, condition('Stalled', 'True', 'Refused')))).toBeUndefined();
    const going = resource({ conditions: [waiting] }, { deletionTimestamp: AT });
    expect(notReadySince(going)).toBeUndefined();
    expect(deletingSince(going)).toBe(Date.parse(AT));
  });
});

describe('an instance', () => {
  it('runs the operation that is noted, else what its phase shows', () => {
    expect(runningOperation(resource({ currentOperation: { event: 'poweron' }, phase: 'ShutDown' }))).toBe(
      'poweron',
    );
    expect(runningOperation(resource({ phase: 'Terminating' }))).toBe('terminate');
    expect(runningOperation(resource({ phase: 'Online' }))).toBeUndefined();
  });

  it('has a lease that will end where one was declared here and has not ended', () => {
    const lease = { operation: 'Terminate', expire: AT, released: false, source: { kind: 'Instance' } };
    const of = (more: object): unknown => armedLease(resource({ lease: { ...lease, ...more } }));
    expect(of({})).toEqual({ operation: 'Terminate', expire: Date.parse(AT), expiring: false });
    expect(of({ released: true })).toBeUndefined();
    expect(of({ operation: 'AlwaysOn' })).toBeUndefined();
    expect(of({ source: undefined })).toBeUndefined();
    expect(of({ expire: undefined })).toBeUndefined();
  });
});

const failing = (...conditions: Condition[]): number | undefined =>
  credentialsFailingSince(resource({ conditions }));

describe('the credentials of a connection', () => {
  it('fail when they are refused or missing, not when the service is out', () => {
    expect(failing(condition('CredentialsValid', 'False', 'CredentialsRejected'))).toBe(Date.parse(AT));
    expect(failing(condition('Ready', 'False', 'WaitingForSecret'))).toBe(Date.parse(AT));
    expect(failing(condition('Ready', 'False', 'ServiceUnavailable'))).toBeUndefined();
    expect(failing(condition('CredentialsValid', 'True', 'CredentialsAccepted'))).toBeUndefined();
  });
});
