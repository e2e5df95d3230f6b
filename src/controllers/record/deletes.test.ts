import { describe, expect, it } from 'vitest';
import { ServiceError, type Write } from '../../service/index.ts';
import { Deletes } from './deletes.ts';

const LAG = 60_000;

function answered(status: number | undefined, at = 0): () => Promise<Write<undefined>> {
  const stamps = { startedAt: at, endedAt: at };
  const error = (code: 'NotFound' | 'Timeout'): ServiceError =>
    new ServiceError({ code, method: 'DELETE', template: '/services/boxes/{box_id}', status });
  if (status === undefined)
    return () => Promise.resolve({ kind: 'unknown', error: error('Timeout'), ...stamps });
  if (status < 300) return () => Promise.resolve({ kind: 'ok', record: undefined, ...stamps });
  return () => Promise.resolve({ kind: 'refused', error: error('NotFound'), ...stamps });
}

const notSent = (): Promise<Write<undefined>> =>
  Promise.resolve({
    kind: 'notSent',
    error: new ServiceError({ code: 'BreakerOpen', method: 'DELETE', template: '/' }),
  });

describe('the DELETEs of one resource', () => {
  it('prove nothing by a terminate that was accepted, or not answered', async () => {
    const deletes = new Deletes();
    await deletes.sending('terminate', { from: 0 }, answered(202));
    expect(deletes.standing).toBeUndefined();
    await deletes.sending('terminate', { from: 0 }, answered(undefined));
    await deletes.sending('force_terminate', { from: 0 }, answered(202));
    expect(deletes.standing).toBeUndefined();
  });

  it('say that a record is there until it is seen, or one is answered 404', async () => {
    for (const [how, status] of [
      ['terminate', 202],
      ['terminate', 409],
      ['delete', 409],
    ] as const) {
      const deletes = new Deletes();
      await deletes.sending(how, { from: 0 }, answered(status));
      await deletes.sending(how, { from: 0 }, answered(403));
      expect(deletes.sayItIsThere).toBe(true);
      await deletes.sending(how, { from: 0 }, answered(404));
      expect(deletes.sayItIsThere).toBe(false);
    }
  });

  it('keep an accepted delete, whatever a later one is answered', async () => {
    for (const status of [undefined, 403, 404, 409, 500]) {
      const deletes = new Deletes();
      await deletes.sending('delete', { from: 0 }, answered(204));
      await deletes.sending('delete', { from: 0 }, answered(status));
      deletes.noteFound();
      expect(deletes.standing).toBe('accepted');
    }
  });

  it('note a delete before it goes, and take that back where it was certainly without effect', async () => {
    const deletes = new Deletes();
    await deletes.sending('delete', { from: 0 }, () => {
      expect(deletes.standing).toBe('unanswered');
      return notSent();
    });
    expect(deletes.standing).toBeUndefined();
    await deletes.sending('delete', { from: 0 }, answered(403));
    expect(deletes.standing).toBeUndefined();
    const aborted = deletes.sending('delete', { from: 0 }, () => Promise.reject(new Error('aborted')));
    await expect(aborted).rejects.toThrow('aborted');
    expect(deletes.standing).toBe('unanswered');
    await deletes.sending('delete', { from: 0 }, answered(409));
    expect(deletes.standing).toBe('unanswered');
  });

  it('prove that nothing is there by two 404s that are 2 s apart, and none of them too early', async () => {
    const deletes = new Deletes();
    await deletes.sending('terminate', { from: LAG }, answered(404, LAG - 1));
    await deletes.sending('terminate', { from: LAG }, answered(404, LAG + 1_000));
    expect(deletes.standing).toBeUndefined();
    await deletes.sending('terminate', { from: LAG }, answered(404, LAG + 2_999));
    expect(deletes.standing).toBeUndefined();
    await deletes.sending('terminate', { from: LAG }, answered(404, LAG + 3_000));
    expect(deletes.standing).toBe('missing');
  });

  it('find it there by 2xx and 409, and by a read', async () => {
    for (const status of [200, 409, undefined]) {
      const deletes = new Deletes();
      await deletes.sending('terminate', { from: 0 }, answered(404, 0));
      if (status === undefined) deletes.noteFound();
      else await deletes.sending('terminate', { from: 0 }, answered(status, 1_000));
      await deletes.sending('terminate', { from: 0 }, answered(404, 5_000));
      expect(deletes.standing).toBeUndefined();
    }
  });

  it('are worth sending a lag window after our last write, and 2 s after the first', async () => {
    const deletes = new Deletes();
    expect(deletes.nextInMs(10_000, undefined, LAG)).toBe(0);
    expect(deletes.nextInMs(10_000, 5_000, LAG)).toBe(55_000);
    await deletes.sending('terminate', { from: 65_000 }, answered(404, 66_000));
    expect(deletes.nextInMs(66_500, 5_000, LAG)).toBe(1_500);
  });

  it('count an earlier process as one that may have sent a delete only once', () => {
    const deletes = new Deletes();
    deletes.begin(false, 0);
    deletes.begin(true, 1);
    expect(deletes.standing).toBeUndefined();
    const restarted = new Deletes();
    restarted.begin(true, 0);
    expect(restarted.standing).toBe('unanswered');
  });
});
