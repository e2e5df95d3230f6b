import { createHash } from 'node:crypto';
import { Router } from '../edge/router.ts';
import { ConnectionLost, type SandboxAnswer, type SandboxRequest } from '../http.ts';
import { Callers } from '../security/callers.ts';
import { grantToken, tokenHash } from '../security/tokens.ts';
import type { Caller, Service } from '../service.ts';
import type { Answer, Ask, PageRoute, Shown } from './ask.ts';
import { ICON, SCRIPT, STYLE } from './client.generated.ts';
import { html } from './html.ts';
import { PAGE_HEADER } from './lists/calls.ts';
import { accountOf, loginForm } from './login.ts';
import { pathOf } from './pieces.ts';
import { nowhere, PAGE_ROUTES } from './routes.ts';
import { cookieToken, isLoopback, isOwnForm, safeNext, setCookie, Tickets } from './session.ts';
import { documentOf } from './shell.ts';

/** The page loads nothing from elsewhere, and nothing can be put into it. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

const MAX_FORM_BYTES = 4_000_000;

const ASSETS: Readonly<Record<string, { type: string; text: string }>> = {
  '/page/style.css': { type: 'text/css; charset=utf-8', text: STYLE },
  '/page/script.js': { type: 'text/javascript; charset=utf-8', text: SCRIPT },
  '/page/icon.svg': { type: 'image/svg+xml', text: ICON },
};

/** Where somebody begins who wants nothing in particular. */
const START = '/page/instances';

/** Paths of the page that need no login. */
const OPEN = ['/', '/page', '/page/login', '/page/login/{ticket}', '/page/logout'] as const;

const FAILED = {
  title: 'The page failed',
  content: html`<div class="empty">
    <h1>The page failed</h1>
    <p>The log of the sandbox says why.</p>
  </div>`,
};

type OwnRoute = { method: string; path: string; show?: PageRoute['show'] };

/** Everything that the page answers, before a login and after it. */
export const OWN_ROUTES: readonly OwnRoute[] = [
  ...PAGE_ROUTES,
  ...Object.keys(ASSETS).map((path) => ({ method: 'GET', path })),
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/page' },
  { method: 'POST', path: '/page/login' },
  { method: 'GET', path: '/page/login' },
  { method: 'GET', path: '/page/login/{ticket}' },
  { method: 'POST', path: '/page/logout' },
];

const ASTRAY: OwnRoute = { method: 'GET', path: '', show: nowhere };

/**
 * The page for somebody in front of a browser. It stands in front of the service: what it reads is no call, and no
 * fault, latency or reading of the service is in its way. What it changes goes through the service like any other
 * client's call.
 */
export class Page {
  readonly #service: Service;
  readonly #serve: (request: SandboxRequest) => Promise<SandboxAnswer>;
  readonly #callers: Callers;
  readonly #router: Router<OwnRoute>;
  readonly #onError: (error: unknown) => void;
  readonly #tickets = new Tickets();

  /**
   * @param serve what every call to the service goes through
   * @param onError is told about errors that answer 500
   */
  constructor(
    service: Service,
    serve: (request: SandboxRequest) => Promise<SandboxAnswer>,
    onError: (error: unknown) => void,
  ) {
    this.#service = service;
    this.#serve = serve;
    this.#onError = onError;
    this.#callers = new Callers(service);
    this.#router = new Router<OwnRoute>(OWN_ROUTES);
  }

  /** The answer to a request of the page; undefined when it is one for the service. */
  handle(request: SandboxRequest): Promise<SandboxAnswer> | undefined {
    const path = request.path.split('?', 1)[0] ?? '';
    const match = this.#router.match(request.method, path);
    // Everything below is the page's, and nothing else is: the service has none of these paths.
    const astray = request.method === 'GET' && path.startsWith('/page/');
    if (match.kind !== 'route' && !astray) return undefined;
    const url = new URL(`http://page${request.path}`);
    const [route, params] = match.kind === 'route' ? [match.route, match.params] : [ASTRAY, {}];
    return this.#answer(request, url, route, params).catch((error: unknown) => {
      this.#onError(error);
      return page(500, documentOf({ ...FAILED, user: '', every: 0 }));
    });
  }

  /** A path that logs an account in once. */
  loginPath(account: string): string {
    const ticket = this.#service.ids.uuid();
    this.#tickets.add(ticket, account);
    return `/page/login/${ticket}`;
  }

  async #answer(
    request: SandboxRequest,
    url: URL,
    route: OwnRoute,
    params: Readonly<Record<string, string>>,
  ): Promise<SandboxAnswer> {
    const asset = ASSETS[route.path];
    if (asset !== undefined) return text(200, asset.type, asset.text, request, 'no-cache');
    const { method, headers } = request;
    if (method === 'POST' && !isOwnForm(headers)) {
      return this.#outside(START, 'The form came from another page: log in and try again.', 403);
    }
    if (request.body.byteLength > MAX_FORM_BYTES)
      return this.#outside(START, 'That is too much to take.', 413);
    if (isOpen(route.path)) return this.#openRoute(request, url, route.path, params);
    const { engine, store } = this.#service;
    engine.settle();
    const token = cookieToken(headers);
    const caller = token === undefined ? undefined : this.#callers.of(method, { 'service-token': token });
    if (caller === undefined || token === undefined || route.show === undefined) {
      return this.#outside(method === 'POST' ? START : `${url.pathname}${url.search}`, '');
    }
    const ask: Ask = {
      service: this.#service,
      caller,
      path: url.pathname,
      params,
      query: url.searchParams,
      form: formOf(request),
      call: (verb, path, body) => this.#call(request, token, verb, path, body),
    };
    const shown = await route.show(ask);
    // Nothing is shown before it is on the disk.
    await store.database.settled();
    return render(shown, caller, request);
  }

  #outside(next: string, notice: string, status = 200): SandboxAnswer {
    const content = loginForm(next, notice);
    return page(status, documentOf({ title: 'Log in', content, user: '', every: 0 }));
  }

  async #openRoute(
    request: SandboxRequest,
    url: URL,
    path: (typeof OPEN)[number],
    params: Readonly<Record<string, string>>,
  ): Promise<SandboxAnswer> {
    if (path === '/' || path === '/page') {
      // Links of earlier versions name the instance in the query.
      const instance = url.searchParams.get('instance');
      return redirect(instance === null ? START : pathOf('instances', instance));
    }
    if (path === '/page/logout') return this.#logout(request);
    if (path === '/page/login/{ticket}') return this.#follow(request, params['ticket'] ?? '');
    if (request.method !== 'POST') return this.#outside(safeNext(url.searchParams.get('next')), '');
    const form = formOf(request);
    const account = accountOf(this.#service, form);
    const next = safeNext(form.get('next'));
    if (account !== undefined) return this.#letIn(request, account.id, next);
    const content = loginForm(next, 'Wrong email or password', form.get('email') ?? '');
    return page(401, documentOf({ title: 'Log in', content, user: '', every: 0 }));
  }

  /** A link that logs in: followed once, on this machine, by a person and not by a browser that looks ahead. */
  async #follow({ method, headers }: SandboxRequest, ticket: string): Promise<SandboxAnswer> {
    const ahead = `${headers['purpose'] ?? ''} ${headers['sec-purpose'] ?? ''}`.includes('prefetch');
    const account =
      method === 'GET' && !ahead && isLoopback(headers['host'] ?? '')
        ? this.#tickets.take(ticket)
        : undefined;
    if (account !== undefined) return this.#letIn({ headers }, account, START);
    return this.#outside(
      START,
      'This link was used already, or is of an earlier run: log in with email and password.',
      403,
    );
  }

  async #letIn(
    request: Pick<SandboxRequest, 'headers'>,
    account: string,
    next: string,
  ): Promise<SandboxAnswer> {
    const { store, ids } = this.#service;
    const token = ids.uuid();
    store.database.share(() => grantToken(this.#service, account, token));
    await store.database.settled();
    return redirect(next, setCookie(request.headers, token));
  }

  /** The cookie goes, and with it what it was good for. */
  async #logout({ headers }: SandboxRequest): Promise<SandboxAnswer> {
    const { store } = this.#service;
    const token = cookieToken(headers);
    if (token !== undefined) store.database.share(() => store.tokens.delete(tokenHash(token)));
    await store.database.settled();
    return redirect(START, setCookie(headers, ''));
  }

  async #call(
    { signal }: SandboxRequest,
    token: string,
    method: string,
    path: string,
    body?: object | Uint8Array,
  ): Promise<Answer> {
    const raw = body instanceof Uint8Array;
    const request: SandboxRequest = {
      method,
      path,
      headers: {
        'service-token': token,
        'service-release': '4.0',
        'content-type': raw ? 'text/x-shellscript' : 'application/json',
        [PAGE_HEADER]: '1',
      },
      body: raw ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      ...(signal === undefined ? {} : { signal }),
    };
    try {
      return answerOf(await this.#serve(request));
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      return { ok: false, status: 502, message: error.message, body: undefined };
    }
  }
}

const isOpen = (path: string): path is (typeof OPEN)[number] => (OPEN as readonly string[]).includes(path);

function formOf({ method, body }: SandboxRequest): URLSearchParams {
  return new URLSearchParams(method === 'POST' ? Buffer.from(body).toString('utf8') : '');
}

function answerOf({ status, body }: SandboxAnswer): Answer {
  const said = Buffer.from(body).toString('utf8');
  let value: unknown;
  try {
    value = said === '' ? undefined : (JSON.parse(said) as unknown);
  } catch {
    // A fault may have spoiled it: what it says is shown as it is.
    value = undefined;
  }
  const ok = status < 300 && (said === '' || value !== undefined);
  const message = (value as { message?: unknown } | undefined)?.message;
  const told = typeof message === 'string' ? message : said.slice(0, 300);
  return {
    ok,
    status: ok ? status : Math.max(status, 400),
    message: ok ? '' : `The service refused (${status}): ${told}`,
    body: value,
  };
}

function page(status: number, content: string, more: Record<string, string> = {}): SandboxAnswer {
  const type = 'text/html; charset=utf-8';
  return { status, headers: { ...HEADERS, 'content-type': type, ...more }, body: Buffer.from(content) };
}

const redirect = (to: string, cookie?: string): SandboxAnswer => ({
  status: 303,
  headers: { ...HEADERS, location: to, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) },
  body: new Uint8Array(),
});

/** A text with a mark of what it says: who has it already is told so and nothing more. */
function text(
  status: number,
  type: string,
  content: string,
  request: SandboxRequest,
  cache = 'no-store',
): SandboxAnswer {
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const headers = { ...HEADERS, 'content-type': type, 'cache-control': cache, etag };
  if (status === 200 && request.headers['if-none-match'] === etag) {
    return { status: 304, headers, body: new Uint8Array() };
  }
  const body = request.method === 'HEAD' ? new Uint8Array() : Buffer.from(content);
  return { status, headers, body };
}

function render(shown: Shown, caller: Caller, request: SandboxRequest): SandboxAnswer {
  if (shown.kind === 'goto') return redirect(shown.to);
  if (shown.kind === 'text') return text(200, 'text/plain; charset=utf-8', shown.text, request);
  if (shown.kind === 'file') {
    const headers = { ...HEADERS, ...shown.headers, 'content-type': shown.type };
    return { status: 200, headers, body: shown.bytes };
  }
  const { title, section, content, every = 0, status = 200 } = shown;
  const whole = documentOf({ title, section, content, user: caller.personal, every });
  return text(status, 'text/html; charset=utf-8', whole, request);
}
