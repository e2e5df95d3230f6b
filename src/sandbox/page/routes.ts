import { canSee } from '../access.ts';
import type { Call, Outcome, Route } from '../edge/route.ts';
import { grantToken, passwordMatches } from '../security/tokens.ts';
import { SCRIPT, STYLE } from './assets.ts';
import { html, type Html } from './html.ts';
import { boxTable, callTable, instanceDetail, instanceTable } from './tables.ts';

/** The page loads nothing from elsewhere, and nothing can be put into it. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

function page(content: Html, user: string): Outcome {
  const reload = user === '' ? html`` : html`<noscript><meta http-equiv="refresh" content="5" /></noscript>`;
  const script = user === '' ? html`` : html`<script src="/page.js" defer></script>`;
  const who =
    user === ''
      ? html``
      : html`<span class="muted">as ${user}</span>
          <form class="inline" method="post" action="/logout"><button>Log out</button></form>`;
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Boxwright sandbox</title>
        <link rel="stylesheet" href="/page.css" />
        ${reload} ${script}
      </head>
      <body>
        <header>
          <h1>Embedded service</h1>
          ${who} <a href="/openapi.json">OpenAPI</a>
        </header>
        <main>${content}</main>
      </body>
    </html>`;
  return { kind: 'text', text: text.text, type: 'text/html; charset=utf-8', headers: HEADERS };
}

const loginForm = (error: string): Html =>
  html`<h2>Log in</h2>
    <form class="login" method="post" action="/login">
      <label>Email <input name="email" type="email" required autocomplete="username" /></label>
      <label
        >Password <input name="password" type="password" required autocomplete="current-password"
      /></label>
      <button>Log in</button>
      <span class="error">${error}</span>
    </form>`;

function show(call: Call): Outcome {
  const { service, caller, query } = call;
  if (caller.account === '') return page(loginForm(''), '');
  const id = query.get('instance');
  const instance = id === null ? undefined : service.store.instances.get(id);
  if (instance !== undefined && canSee(caller, instance)) {
    return page(instanceDetail(service, instance), caller.personal);
  }
  const calls = service.calls.list({ caller: caller.personal });
  const content = html`${instanceTable(service, caller)} ${boxTable(service, caller)} ${callTable(calls)}`;
  return page(content, caller.personal);
}

const cookie = (value: string): string => `token=${value}; Path=/; HttpOnly; SameSite=Strict`;

function login(call: Call): Outcome {
  const { service } = call;
  const form = new URLSearchParams(Buffer.from(call.raw).toString('utf8'));
  const account = service.store.accounts.by('email', (form.get('email') ?? '').toLowerCase())[0];
  if (account === undefined || !passwordMatches(account, form.get('password') ?? '')) {
    return { ...page(loginForm('Wrong email or password'), ''), status: 401 } as Outcome;
  }
  const token = service.ids.uuid();
  grantToken(service, account.id, token);
  return { kind: 'none', status: 303, headers: { location: '/', 'set-cookie': cookie(token) } };
}

const asset = (path: string, type: string, text: string): Route => ({
  method: 'GET',
  path,
  summary: `Part of the page at / (${path})`,
  success: 200,
  errors: [],
  open: true,
  text: type,
  handler: () => ({ kind: 'text', text, type, headers: { 'cache-control': 'max-age=60' } }),
});

/** The page at /: boxes, instances, activity and calls, for somebody in front of a browser. */
export const pageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    summary: 'The page',
    success: 200,
    errors: [],
    open: true,
    text: 'text/html; charset=utf-8',
    query: ['instance'],
    handler: show,
  },
  {
    method: 'POST',
    path: '/login',
    summary: 'Log in on the page',
    success: 303,
    errors: [401],
    open: true,
    body: 'bytes',
    handler: login,
  },
  {
    method: 'POST',
    path: '/logout',
    summary: 'Log out of the page',
    success: 303,
    errors: [],
    open: true,
    handler: () => ({
      kind: 'none',
      status: 303,
      headers: { location: '/', 'set-cookie': `${cookie('')}; Max-Age=0` },
    }),
  },
  asset('/page.css', 'text/css; charset=utf-8', STYLE),
  asset('/page.js', 'text/javascript; charset=utf-8', SCRIPT),
];
