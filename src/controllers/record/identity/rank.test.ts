import { describe, expect, it } from 'vitest';
import { rankOf, standing, type Contender, type Rank } from './rank.ts';

const HERE = 'https://service.test';
const ELSEWHERE = 'https://elsewhere.test';
const RECORD = { id: 'r1', endpoint: HERE };

/** Made second, with nothing to show. */
function contender(more: Partial<Contender> = {}, uid = 'uid-b'): Contender {
  return {
    metadata: { creationTimestamp: '2026-01-01T00:00:02Z', uid },
    status: {},
    seal: undefined,
    isMarked: undefined,
    ...more,
  };
}
const status = (id: string, endpoint?: string): Pick<Contender, 'status'> => ({
  status: { id, ...(endpoint === undefined ? {} : { home: { endpoint } }) },
});
const seal = (id: string, endpoint: string, isOfPresentUid = true): Pick<Contender, 'seal'> => ({
  seal: { id, endpoint, isOfPresentUid },
});
const OLDER = { metadata: { creationTimestamp: '2026-01-01T00:00:01Z', uid: 'uid-z' } };

describe('the rank of a resource for a record', () => {
  it.each<[string, Partial<Contender>, Rank]>([
    ['status that names it at that endpoint', status('r1', HERE), 'status'],
    ['status that names it elsewhere', status('r1', ELSEWHERE), 'nothing'],
    ['status without a home', status('r1'), 'nothing'],
    ['status that names another record', status('r2', HERE), 'nothing'],
    ['a seal for the present uid', seal('r1', HERE), 'seal'],
    ['a seal for a dead uid', seal('r1', HERE, false), 'earlier seal'],
    ['a seal for another endpoint', seal('r1', ELSEWHERE), 'nothing'],
    ['a seal for another record', seal('r2', HERE), 'nothing'],
    ['status and a seal', { ...status('r1', HERE), ...seal('r1', HERE) }, 'status'],
    ['its marker on the record', { isMarked: true }, 'marker'],
    ['its marker, and a record of its own', { isMarked: true, ...status('r2', HERE) }, 'nothing'],
    ['its marker, and a sealed claim on another', { isMarked: true, ...seal('r2', HERE) }, 'nothing'],
    ['its marker, and status that names it without a home', { isMarked: true, ...status('r1') }, 'marker'],
    ['nothing', {}, 'nothing'],
  ])('by %s', (_what, shows, rank) => {
    expect(rankOf(contender(shows), RECORD)).toBe(rank);
  });
});

describe('of two that want a record', () => {
  const RANKED: [Rank, Partial<Contender>][] = [
    ['status', status('r1', HERE)],
    ['seal', seal('r1', HERE)],
    ['earlier seal', seal('r1', HERE, false)],
    ['marker', { isMarked: true }],
    ['nothing', {}],
  ];
  const pairs = RANKED.flatMap(([higher, a], at) =>
    RANKED.slice(at + 1).map(([lower, b]) => ({ higher, lower, a, b })),
  );

  it.each(pairs)('$higher comes before $lower, the older or not', ({ a, b }) => {
    expect(standing(contender(a), contender({ ...b, ...OLDER }), RECORD)).toEqual({
      isFirst: true,
      isTie: false,
    });
    expect(standing(contender({ ...b, ...OLDER }), contender(a), RECORD)).toEqual({
      isFirst: false,
      isTie: false,
    });
  });

  it.each(RANKED.slice(0, 3))(
    'by %s, the one whose marker the record carries comes first',
    (_rank, shows) => {
      const marked = contender({ ...shows, isMarked: true });
      const other = contender({ ...shows, ...OLDER, isMarked: false });
      expect(standing(marked, other, RECORD)).toEqual({ isFirst: true, isTie: true });
      expect(standing(other, marked, RECORD)).toEqual({ isFirst: false, isTie: true });
    },
  );

  it.each(RANKED)('by %s, the older comes first, then the lower uid', (_rank, shows) => {
    const [old, young, twin] = [
      contender({ ...shows, ...OLDER }),
      contender(shows),
      contender(shows, 'uid-c'),
    ];
    expect(standing(old, young, RECORD)).toEqual({ isFirst: true, isTie: true });
    expect(standing(young, old, RECORD).isFirst).toBe(false);
    expect(standing(young, twin, RECORD).isFirst).toBe(true);
    expect(standing(twin, young, RECORD).isFirst).toBe(false);
  });
});
