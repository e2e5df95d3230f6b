import type { Section, Shown } from '../ask.ts';
import { html, type Html, type Part } from '../html.ts';

/** How often a page that shows something under way looks for news, and one that does not, milliseconds. */
const BUSY = 700;
const EVERY = 2_000;

export interface Detail {
  section: Section;
  /** The list that it belongs to; absent for what stands alone. */
  list?: string;
  name: string;
  id: string;
  /** State, type and the like, beside the name. */
  marks?: Part;
  actions?: Part;
  /** Above everything: what went wrong. */
  notice?: Part;
  content: Part;
  status?: number;
  busy?: boolean;
  /** Shown once and for all: nothing of it changes. */
  still?: boolean;
}

/** A page about one thing: where it stands, what it is, what can be done. */
export function detailPage(detail: Detail): Shown {
  const { section, list, name, id, marks, actions, notice, content, status, busy, still } = detail;
  const body = html`${list !== undefined && crumbs(section, list)} ${notice}
    <div class="head">
      <div>
        <h1>${name}</h1>
        <p class="sub"><code>${id}</code> ${marks}</p>
      </div>
      ${actions !== undefined && html`<div class="actions">${actions}</div>`}
    </div>
    ${content}`;
  return {
    kind: 'page',
    title: name,
    section,
    content: body,
    ...(status === undefined ? {} : { status }),
    ...(still === true ? {} : { every: busy === true ? BUSY : EVERY }),
  };
}

const crumbs = (section: Section, list: string): Html =>
  html`<nav class="crumbs" aria-label="Where you are">
    <a href="/page/${section}" data-key="u" aria-keyshortcuts="u">${list}</a>
  </nav>`;

/** What a link that leads nowhere is answered with. */
export function missing(section: Section, list: string, what: string, id: string): Shown {
  const content = html`${crumbs(section, list)}
    <div class="empty">
      <h1>There is no ${what} <code>${id.slice(0, 100)}</code> that you can see</h1>
      <p>It may have been deleted, belong to somebody else, or to another service.</p>
      <p><a class="button" href="/page/${section}">${list}</a></p>
    </div>`;
  return { kind: 'page', title: `No such ${what}`, section, content, status: 404 };
}

/** Two columns on a wide screen: what happens, and what is. */
export const columns = (main: Part, side: Part): Html =>
  html`<div class="columns">
    <div class="main">${main}</div>
    <div class="side">${side}</div>
  </div>`;
