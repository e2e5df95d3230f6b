import type { Section } from './ask.ts';
import { html, type Html } from './html.ts';

const SECTIONS: readonly { section: Section; path: string; title: string; key: string }[] = [
  { section: 'instances', path: '/page/instances', title: 'Instances', key: 'i' },
  { section: 'boxes', path: '/page/boxes', title: 'Boxes', key: 'b' },
  { section: 'policy-boxes', path: '/page/policy-boxes', title: 'Policy boxes', key: 'p' },
  { section: 'providers', path: '/page/providers', title: 'Providers', key: 'r' },
  { section: 'workspaces', path: '/page/workspaces', title: 'Workspaces', key: 'w' },
  { section: 'organization', path: '/page/organization', title: 'Organization', key: 'o' },
  { section: 'blobs', path: '/page/blobs', title: 'Blobs', key: 'f' },
  { section: 'calls', path: '/page/calls', title: 'Calls', key: 'c' },
];

export interface Shell {
  title: string;
  section?: Section | undefined;
  content: Html;
  /** Who is logged in; "" for nobody. */
  user: string;
  /** Milliseconds between two looks for news; 0 for none. */
  every: number;
}

/** The whole document around what a page shows. */
export function documentOf({ title, section, content, user, every }: Shell): string {
  const inside = user !== '';
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Boxwright sandbox</title>
        <link rel="stylesheet" href="/page/style.css" />
        <link rel="icon" href="/page/icon.svg" type="image/svg+xml" />
        ${inside && html`<script src="/page/script.js" defer></script>`}
        ${every > 0 && html`<noscript><meta http-equiv="refresh" content="5" /></noscript>`}
      </head>
      <body data-every="${every}" data-page="${inside ? 'inside' : 'login'}">
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/page/instances"
            ><img src="/page/icon.svg" alt="" width="22" height="22" /> Boxwright <span>sandbox</span></a
          >
          ${inside && tools(user)}
        </header>
        ${inside && navigation(section)}
        <main id="main" tabindex="-1">${content}</main>
        <p id="lost" role="status" hidden></p>
        ${inside && help()}
      </body>
    </html>`.text;
}

const tools = (user: string): Html =>
  html`<div class="tools">
    <button type="button" id="live" class="quiet" aria-pressed="true" hidden>Live</button>
    <button type="button" class="quiet" command="show-modal" commandfor="help" aria-keyshortcuts="?">
      Keys
    </button>
    <span class="who" title="Logged in as ${user}">${user}</span>
    <form method="post" action="/page/logout"><button class="quiet">Log out</button></form>
  </div>`;

const navigation = (current: Section | undefined): Html =>
  html`<nav class="sections" aria-label="Sections">
    <ul>
      ${SECTIONS.map(
        ({ section, path, title, key }) =>
          html`<li>
            <a href="${path}" data-go="${key}" ${section === current && html`aria-current="page"`}
              >${title}</a
            >
          </li>`,
      )}
    </ul>
    <a class="api" href="/openapi.json">OpenAPI</a>
  </nav>`;

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['n, p', 'Next and previous page of a list'],
  ['u', 'Up: from a detail to its list'],
  ['.', 'Pause and go on with live updates'],
  ['?', 'This help'],
];

const keyRow = ([key, what]: readonly [string, string]): Html =>
  html`<dt><kbd>${key}</kbd></dt>
    <dd>${what}</dd>`;

const help = (): Html =>
  html`<dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <div class="keys">
      <dl>${KEYS.map(keyRow)}</dl>
      <dl>${SECTIONS.map(({ key, title }) => keyRow([`g ${key}`, title]))}</dl>
    </div>
    <p>
      <label><input type="checkbox" id="keys-on" checked /> Single keys do something</label>
    </p>
    <form method="dialog"><button autofocus>Close</button></form>
  </dialog>`;
