import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ServiceError, type ServiceErrorCode } from '../../service/index.ts';
import { Attempts } from './attempts.ts';
import { notAccepted, refusedVerdict } from './outcome.ts';

function refused(code: ServiceErrorCode, status: number, tries = 1): Attempts {
  const attempts = new Attempts(new VirtualClock(), () => 0);
  const error = new ServiceError({ code, method: 'PUT', template: '/services/boxes/{box_id}', status });
  for (let i = 0; i < tries; i++) {
    notAccepted(
      { kind: 'refused', error, startedAt: 0, endedAt: 1 },
      { attempts, aspect: 'content', fingerprint: 'a' },
      { refused: refusedVerdict },
    );
  }
  return attempts;
}

it.each([
  ['Forbidden', 403, 1],
  ['CredentialsRejected', 401, 2],
] as const)(
  'a write that is refused for %s is tried at once with other credentials',
  (code, status, tries) => {
    const attempts = refused(code, status, tries);
    expect(attempts.held('content', 'a')?.why).toBe('refused');
    attempts.accessChanged();
    expect(attempts.held('content', 'a')).toBeUndefined();
  },
);

it('a write that is refused for what it says waits, whoever asks', () => {
  const attempts = refused('BadRequest', 400);
  attempts.accessChanged();
  expect(attempts.held('content', 'a')?.why).toBe('refused');
});
