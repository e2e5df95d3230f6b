import type { Lease, Variable } from '../model.ts';
import { parseTime } from '../time.ts';
import { html, type Html, type Part } from './html.ts';

/** A state as a word with a mark of its own: colour alone tells nobody anything. */
export const state = (value: string): Html => html`<span class="state ${value}">${value}</span>`;

export const tag = (text: string): Html => html`<span class="tag">${text}</span>`;

export const mono = (content: Part): Html => html`<span class="mono">${content}</span>`;

export const link = (to: string, text: string): Html => html`<a href="${to}">${text}</a>`;

/** A path of the page with one id in it. */
export const pathOf = (section: string, id: string): string => `/page/${section}/${encodeURIComponent(id)}`;

/** A timestamp to the second; the rest of it is in the title. */
export function time(stamp: string | null | undefined): Html {
  if (stamp === null || stamp === undefined || stamp === '') return html`<span class="muted">–</span>`;
  return html`<time datetime="${stamp.replace(' ', 'T')}Z" title="${stamp} UTC">${stamp.slice(0, 19)}</time>`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in the two units that matter: `3 d 4 h`, `2 h 5 min`, `4 min`, `35 s`. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.ceil(ms / 1000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** What a lease does, and in how long. */
export function leaseText(lease: Lease | undefined, now: number): string {
  if (lease === undefined || lease.operation === 'alwayson') return 'always on';
  if (lease.released) return `${lease.operation}, released`;
  const left = (parseTime(lease.expire ?? '') ?? now) - now;
  return left > 0 ? `${lease.operation} in ${span(left)}` : `${lease.operation} is due`;
}

/** Names and values; what has no value is left out. */
export function facts(rows: readonly (readonly [string, Part])[]): Html {
  const there = rows.filter(([, value]) => value !== undefined && value !== false && value !== '');
  return html`<dl class="facts">
    ${there.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** A part of a detail page, with a heading of its own. */
export function part(id: string, title: string, content: Part, more?: Part): Html {
  return html`<section id="${id}" class="part" aria-labelledby="${id}-title">
    <div class="part-head">
      <h2 id="${id}-title">${title}</h2>
      ${more}
    </div>
    ${content}
  </section>`;
}

export const nothing = (text: string): Html => html`<p class="muted nothing">${text}</p>`;

/** Something that went wrong, said where it is seen and heard first. */
export const alert = (message: string): Html =>
  message === '' ? html`` : html`<p class="alert" role="alert">${message}</p>`;

/** A table of a detail page. A class for a column goes after its title: `Scope|wide`. */
export function table(columns: readonly string[], rows: readonly (readonly Part[])[], label: string): Html {
  const classes = columns.map((column) => column.split('|')[1] ?? '');
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map((column, n) => html`<th scope="col" class="${classes[n]}">${column.split('|')[0]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, n) => html`<td class="${classes[n]}">${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The value of a variable as somebody who looks over a shoulder may see it. */
export function valueText(variable: Pick<Variable, 'type' | 'value'>): string {
  const { type, value } = variable;
  if (value === undefined || value === null || value === '') return '';
  if (type === 'Password') return '••••••••';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** Whether the element of that id shows its last line as more come. */
export const followButton = (id: string): Html =>
  html`<button type="button" class="quiet" data-follows="${id}" aria-pressed="true">Follow</button>`;
