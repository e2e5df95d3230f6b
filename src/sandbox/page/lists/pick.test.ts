import { expect, test } from 'vitest';
import { pick, type Pickable } from './pick.ts';

interface Row {
  name: string;
  state: string;
  owner: string;
}

const ROWS: Row[] = Array.from({ length: 120 }, (_, n) => ({
  name: `web-${String(n).padStart(3, '0')}`,
  state: n % 3 === 0 ? 'processing' : 'done',
  owner: n % 2 === 0 ? 'ops' : 'shop',
}));

const LIST: Pickable<Row> = {
  rows: ROWS,
  facets: [
    { name: 'state', title: 'State', of: ({ state }) => state, as: 'tabs', known: ['done', 'unavailable'] },
    { name: 'owner', title: 'Owner', of: ({ owner }) => owner, as: 'select' },
  ],
  text: ({ name, owner }) => `${name} ${owner}`,
  sorts: { name: ({ name }) => name, owner: ({ owner }) => owner },
  sort: 'name',
};

const asked = (query: string): ReturnType<typeof pick<Row>> => pick(LIST, new URLSearchParams(query));

test('shows the first page in the order of the list', () => {
  const { rows, page, pages, total, matched } = asked('');
  expect(rows.map(({ name }) => name)).toEqual(ROWS.slice(0, 50).map(({ name }) => name));
  expect({ page, pages, total, matched }).toEqual({ page: 1, pages: 3, total: 120, matched: 120 });
});

test('finds rows that hold every word of the search, whatever its case', () => {
  expect(asked('q=SHOP+web-01').rows.map(({ name }) => name)).toEqual([
    'web-011',
    'web-013',
    'web-015',
    'web-017',
    'web-019',
  ]);
});

test('counts each value of a filter as if that filter were not set, and every other one were', () => {
  const { counts, matched } = asked('state=processing&owner=ops');
  expect(matched).toBe(20);
  expect([...(counts['state'] ?? [])]).toEqual([
    ['done', 40],
    ['unavailable', 0],
    ['processing', 20],
  ]);
  expect(Object.fromEntries(counts['owner'] ?? [])).toEqual({ ops: 20, shop: 20 });
});

test('sorts both ways, and keeps the order of equal rows', () => {
  expect(asked('sort=-name').rows[0]?.name).toBe('web-119');
  expect(
    asked('sort=owner')
      .rows.slice(0, 2)
      .map(({ name }) => name),
  ).toEqual(['web-000', 'web-002']);
});

test.each(['page=0', 'page=-1', 'page=abc', 'page=1.5', 'page=', 'size=3', 'sort=nothing', 'sort=-'])(
  'shows the first page for %s, which means nothing',
  (query) => {
    expect(asked(query).rows[0]?.name).toBe('web-000');
    expect(asked(query).size).toBe(50);
  },
);

test('shows the last page to whoever asks for one beyond it', () => {
  expect(asked('page=99')).toMatchObject({ page: 3, rows: { length: 20 } });
  expect(asked('page=99&q=nowhere')).toMatchObject({ page: 1, pages: 1, rows: [] });
});
