import { describe, expect, it } from 'vitest';
import { isDecidedBy, nextFormer, takenBack, withFormer, type Former, type FormerNews } from './list.ts';

const AT = '2026-01-01T00:00:00Z';
const NOW = Date.parse('2026-01-02T00:00:00Z');

function one(id: string, more: Partial<Former> = {}): Former {
  return { id, endpoint: 'https://a', owner: 'o', why: 'Gone', since: AT, ...more };
}

function next(former: Former[], news: Partial<FormerNews> = {}): Former[] {
  const none = { own: 'n', gone: [], noted: [], again: [], adopt: undefined, isUp: false, now: NOW };
  return nextFormer(former, { ...none, ...news }) ?? [];
}

describe('the list of earlier records', () => {
  it('has room for five; of what has ended the oldest makes room, of what may come back nothing', () => {
    const gone = ['a', 'b', 'c', 'd', 'e'].map((id) => one(id));
    expect(withFormer(gone, one('f'))).toBeUndefined();
    expect(withFormer(gone, one('e'))?.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const ended = gone.map((other) => (other.id > 'b' ? { ...other, why: 'Ended' as const } : other));
    expect(withFormer(ended, one('f'))?.map(({ id }) => id)).toEqual(['a', 'b', 'd', 'e', 'f']);
  });

  it('keeps nothing of another service before what can still be looked at', () => {
    const former = ['a', 'b', 'c', 'd', 'e'].map((id) =>
      one(id, id === 'd' ? { endpoint: 'https://b' } : {}),
    );
    expect(withFormer(former, one('f'))?.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'e', 'f']);
  });

  it('is replaced by what is Ready for the first time, and only then', () => {
    expect(next([one('a')])).toEqual([one('a')]);
    const [replaced] = next([one('a')], { isUp: true });
    expect(replaced?.replacedAt).toBe('2026-01-02T00:00:00Z');
    expect(next([one('a', { replacedAt: AT })], { isUp: true })).toEqual([one('a', { replacedAt: AT })]);
  });

  it('loses what is the own record again, and nothing else of it is taken back unasked after that', () => {
    expect(next([one('n'), one('a')])).toEqual([one('a', { replacedAt: '2026-01-02T00:00:00Z' })]);
    // What was there before it, and before that was never Ready, may still be taken back.
    expect(next([one('a'), one('n')])).toEqual([one('a')]);
    expect(
      nextFormer([one('n')], {
        own: 'n',
        gone: [],
        noted: [],
        again: [],
        adopt: undefined,
        isUp: false,
        now: NOW,
      }),
    ).toBeUndefined();
  });

  it('takes no word for a decision that was there before', () => {
    const [seen] = next([one('a', { replacedAt: AT })], { again: ['a'], adopt: 'n' });
    expect(seen).toMatchObject({ why: 'Gone', seenWith: 'n' });
    expect(next([seen as Former], { again: ['a'], adopt: 'n' })).toMatchObject([{ why: 'Gone' }]);
    const [without] = next([seen as Former], { again: ['a'] });
    expect(without).not.toHaveProperty('seenWith');
    expect(isDecidedBy(without as Former, 'a')).toBe(true);
    expect(next([without as Former], { again: ['a'], adopt: 'n' })).toMatchObject([{ why: 'Surplus' }]);
    expect(next([without as Former], { again: ['a'], adopt: 'x'.repeat(3_000) })).toMatchObject([
      { why: 'Gone' },
    ]);
  });

  it('gives up what was made in the place of what is taken back, by deletionPolicy where a person chose', () => {
    const instead = { id: 'n', endpoint: 'https://a', owner: 'o' };
    const back = { id: 'a', instead, now: NOW };
    const five = ['a', 'b', 'c', 'd', 'e'].map((id) => one(id));
    const unasked = takenBack(five, { ...back, isChosen: false });
    expect(unasked.map(({ id, why }) => `${id} ${why}`)).toEqual([
      'b Gone',
      'c Gone',
      'd Gone',
      'e Gone',
      'n Surplus',
    ]);
    expect(unasked.at(-1)).not.toHaveProperty('replacedAt');
    expect(takenBack([one('a')], { ...back, isChosen: true }).at(-1)).toHaveProperty('replacedAt');
  });
});
