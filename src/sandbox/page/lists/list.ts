import type { Section, Shown } from '../ask.ts';
import { html, type Html, type Part } from '../html.ts';
import { count } from '../pieces.ts';
import { pick, SIZES, type Facet, type Picked } from './pick.ts';

/** One column of a list. */
export interface Column<T> {
  /** Also the name under which it is sorted. */
  name: string;
  title: string;
  cell: (row: T) => Part;
  /** Absent for a column that is not sorted by. */
  sort?: (row: T) => string | number;
  /** `mid` goes on a small screen, `wide` on a medium one; `num` stands on the right. */
  look?: string;
}

/** A list of the page: what there is, and how it is shown. */
export interface List<T> {
  section: Section;
  title: string;
  one: string;
  many: string;
  rows: readonly T[];
  /** Stays with a row, however it moves. */
  id: (row: T) => string;
  columns: readonly Column<T>[];
  facets: readonly Facet<T>[];
  text: (row: T) => string;
  sort: string;
  /** What somebody should do who sees nothing. */
  empty: Html;
  /** Beside the heading. */
  actions?: Html | undefined;
  /** What the search field says. */
  hint: string;
}

/** How often a list looks for news, milliseconds. */
const EVERY = 2_000;

/** A list with what the query chooses of it. */
export function listPage<T>(list: List<T>, query: URLSearchParams): Shown {
  const sorts = Object.fromEntries(
    list.columns.flatMap(({ name, sort }) => (sort === undefined ? [] : [[name, sort]])),
  );
  const picked = pick({ ...list, sorts }, query);
  const link = linkTo(`/page/${list.section}`, query);
  const content = html`<div class="head">
      <h1>${list.title} <span class="count">${picked.total.toLocaleString('en')}</span></h1>
      <div class="actions">${list.actions}</div>
    </div>
    ${picked.total === 0 ? html`<div class="empty">${list.empty}</div>` : filled(list, picked, link)}`;
  return { kind: 'page', title: list.title, section: list.section, content, every: EVERY };
}

type Link = (changes: Readonly<Record<string, string | undefined>>) => string;

/** Links that change some of the query and keep the rest. */
function linkTo(path: string, query: URLSearchParams): Link {
  return (changes) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    const text = next.toString();
    return text === '' ? path : `${path}?${text}`;
  };
}

function filled<T>(list: List<T>, picked: Picked<T>, link: Link): Html {
  return html`${toolbar(list, picked, link)}
    <p class="shown" role="status">${shownText(list, picked)}</p>
    ${picked.rows.length === 0 ? noMatch(list) : rowsOf(list, picked, link)} ${pager(picked, link)}`;
}

function shownText<T>({ one, many }: List<T>, picked: Picked<T>): string {
  const { matched, total, page, size, rows } = picked;
  const first = (page - 1) * size + 1;
  const range =
    matched > size
      ? `${first.toLocaleString('en')}–${(first + rows.length - 1).toLocaleString('en')} of ${count(matched, one, many)}`
      : count(matched, one, many);
  return matched === total ? range : `${range}, of ${total.toLocaleString('en')} in all`;
}

const noMatch = <T>({ section, many }: List<T>): Html =>
  html`<div class="empty">
    <p>No ${many} match. Change the search or the filters, or <a href="/page/${section}">show all</a>.</p>
  </div>`;

function toolbar<T>(list: List<T>, { words, counts, chosen, size, sort }: Picked<T>, link: Link): Html {
  const tabs = list.facets.filter(({ as }) => as === 'tabs');
  const selects = list.facets.filter(({ as }) => as === 'select');
  const sorted = `${sort.down ? '-' : ''}${sort.name}`;
  return html`<form class="toolbar" method="get" action="/page/${list.section}" role="search" data-search>
    <label class="search">
      <span class="hidden">Search ${list.many}</span>
      <input
        type="search"
        id="q"
        name="q"
        value="${words}"
        placeholder="${list.hint}"
        autocomplete="off"
        spellcheck="false"
        aria-keyshortcuts="/"
      />
    </label>
    ${tabs.map((facet) => tabsOf(facet, counts, chosen, link))}
    ${selects.map((facet) => selectOf(facet, counts, chosen))}
    <label
      >Rows
      <select id="size" name="size">
        ${SIZES.map((choice) => html`<option value="${choice}" ${choice === size && html`selected`}>${choice}</option>`)}
      </select></label
    >
    ${tabs.map(({ name }) => (chosen[name] ?? '') !== '' && html`<input type="hidden" name="${name}" value="${chosen[name] ?? ''}" />`)}
    ${sorted !== list.sort && html`<input type="hidden" name="sort" value="${sorted}" />`}
    <noscript><button>Apply</button></noscript>
  </form>`;
}

type Counts = Picked<unknown>['counts'];
type Chosen = Picked<unknown>['chosen'];

function tabsOf<T>({ name, title }: Facet<T>, counts: Counts, chosen: Chosen, link: Link): Html {
  const values = [...(counts[name] ?? [])];
  const all = values.reduce((sum, [, n]) => sum + n, 0);
  const tab = (value: string, text: string, n: number): Html =>
    html`<a
      id="tab-${name}-${value}"
      class="tab"
      data-swap
      href="${link({ [name]: value, page: undefined })}"
      ${(chosen[name] ?? '') === value && html`aria-current="true"`}
      >${text} <span class="n">${n.toLocaleString('en')}</span></a
    >`;
  return html`<div class="tabs" role="group" aria-label="${title}">
    ${tab('', 'all', all)} ${values.map(([value, n]) => tab(value, value, n))}
  </div>`;
}

function selectOf<T>({ name, title }: Facet<T>, counts: Counts, chosen: Chosen): Html {
  const wanted = chosen[name] ?? '';
  const values = [...(counts[name] ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  // What the link asks for is shown even where nothing has it.
  if (wanted !== '' && !values.some(([value]) => value === wanted)) values.push([wanted, 0]);
  return html`<label
    >${title}
    <select id="facet-${name}" name="${name}">
      <option value="">all</option>
      ${values.map(
        ([value, n]) =>
          html`<option value="${value}" ${value === wanted && html`selected`}>${value} (${n})</option>`,
      )}
    </select></label
  >`;
}

function rowsOf<T>(list: List<T>, { rows, sort }: Picked<T>, link: Link): Html {
  return html`<div class="scroll rows" id="rows">
    <table data-rows>
      <caption class="hidden">
        ${list.title}
      </caption>
      <thead>
        <tr>
          ${list.columns.map((column) => headOf(column, sort, link))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr id="row-${list.id(row)}">
              ${list.columns.map((column) => html`<td class="${column.look ?? ''}">${column.cell(row)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function headOf<T>(column: Column<T>, sort: Picked<T>['sort'], link: Link): Html {
  const { name, title, look = '' } = column;
  if (column.sort === undefined) return html`<th scope="col" class="${look}">${title}</th>`;
  const current = sort.name === name;
  const down = current && !sort.down;
  return html`<th
    scope="col"
    class="${look}"
    ${current && (sort.down ? html`aria-sort="descending"` : html`aria-sort="ascending"`)}
  >
    <a
      id="sort-${name}"
      class="sort"
      data-swap
      href="${link({ sort: down ? `-${name}` : name, page: undefined })}"
      >${title}</a
    >
  </th>`;
}

function pager<T>({ page, pages }: Picked<T>, link: Link): Html {
  if (pages === 1) return html``;
  const step = (id: string, text: string, to: number, key = ''): Html =>
    to < 1 || to > pages || to === page
      ? // It is the same element, so that who presses it to the end does not lose the focus there.
        html`<a id="${id}" class="button" role="link" aria-disabled="true" tabindex="-1">${text}</a>`
      : html`<a
          id="${id}"
          class="button"
          data-swap
          ${key !== '' && html`data-key="${key}" aria-keyshortcuts="${key}"`}
          href="${link({ page: to === 1 ? undefined : String(to) })}"
          >${text}</a
        >`;
  return html`<nav class="pager" aria-label="Pages">
    ${step('page-first', 'First', 1)} ${step('page-prev', 'Previous', page - 1, 'p')}
    <span>Page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}</span>
    ${step('page-next', 'Next', page + 1, 'n')} ${step('page-last', 'Last', pages)}
  </nav>`;
}
