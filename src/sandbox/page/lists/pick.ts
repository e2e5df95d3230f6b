/** A property of rows that a list is filtered by. */
export interface Facet<T> {
  /** Name of the query parameter. */
  name: string;
  title: string;
  of: (row: T) => string;
  /** Tabs with a count each, or a choice from many. */
  as: 'tabs' | 'select';
  /** Values that are offered even where no row has them; the others come after them. */
  known?: readonly string[];
}

/** What a list needs to know of its rows to pick some. */
export interface Pickable<T> {
  rows: readonly T[];
  facets: readonly Facet<T>[];
  /** What the search looks into, in lower case. */
  text: (row: T) => string;
  /** By name of the column. */
  sorts: Readonly<Record<string, (row: T) => string | number>>;
  /** Name of a column; with `-` in front for the largest first. */
  sort: string;
}

export interface Picked<T> {
  /** The rows of the page. */
  rows: readonly T[];
  total: number;
  matched: number;
  /** From 1. */
  page: number;
  pages: number;
  size: number;
  sort: { name: string; down: boolean };
  words: string;
  /** Per facet, for each of its values: how many rows there are with everything else as it is. */
  counts: Readonly<Record<string, ReadonlyMap<string, number>>>;
  chosen: Readonly<Record<string, string>>;
}

export const SIZES: readonly number[] = [25, 50, 100, 200];
const DEFAULT_SIZE = 50;

/** The rows that a query asks for: searched, filtered, sorted, one page of them. */
export function pick<T>(list: Pickable<T>, query: URLSearchParams): Picked<T> {
  const words = (query.get('q') ?? '').trim().slice(0, 200);
  const chosen = Object.fromEntries(list.facets.map(({ name }) => [name, query.get(name) ?? '']));
  const { matched, counts } = filtered(list, words.toLowerCase().split(/\s+/).filter(Boolean), chosen);
  const sort = sortOf(list, query.get('sort') ?? '');
  const key = list.sorts[sort.name];
  const sorted = key === undefined ? matched : sortedBy(matched, key, sort.down);
  const size = SIZES.find((choice) => String(choice) === query.get('size')) ?? DEFAULT_SIZE;
  const pages = Math.max(1, Math.ceil(sorted.length / size));
  const wanted = Number(query.get('page') ?? 1);
  const page = Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), pages) : 1;
  return {
    rows: sorted.slice((page - 1) * size, page * size),
    total: list.rows.length,
    matched: sorted.length,
    page,
    pages,
    size,
    sort,
    words,
    counts,
    chosen,
  };
}

function filtered<T>(
  { rows, facets, text }: Pickable<T>,
  words: readonly string[],
  chosen: Readonly<Record<string, string>>,
): { matched: T[]; counts: Record<string, Map<string, number>> } {
  const counts: Record<string, Map<string, number>> = {};
  for (const { name, known = [] } of facets) counts[name] = new Map(known.map((value) => [value, 0]));
  const matched: T[] = [];
  for (const row of rows) {
    if (words.length > 0) {
      const found = text(row);
      if (!words.every((word) => found.includes(word))) continue;
    }
    const values = facets.map((facet) => facet.of(row));
    const misses = facets.filter(({ name }, n) => (chosen[name] ?? '') !== '' && chosen[name] !== values[n]);
    if (misses.length === 0) matched.push(row);
    for (const [n, facet] of facets.entries()) {
      if (misses.some((other) => other !== facet)) continue;
      const seen = counts[facet.name];
      const value = values[n] ?? '';
      seen?.set(value, (seen.get(value) ?? 0) + 1);
    }
  }
  return { matched, counts };
}

function sortOf<T>({ sorts, sort }: Pickable<T>, asked: string): { name: string; down: boolean } {
  const text = Object.hasOwn(sorts, asked.replace(/^-/, '')) ? asked : sort;
  return { name: text.replace(/^-/, ''), down: text.startsWith('-') };
}

/** Equal rows keep their order, so that a row does not move for no reason. */
function sortedBy<T>(rows: readonly T[], key: (row: T) => string | number, down: boolean): T[] {
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  const sign = down ? -1 : 1;
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0));
  return keyed.map(({ row }) => row);
}
