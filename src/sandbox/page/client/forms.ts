import type { Live } from './live.ts';

/** Time without a key after which a search begins, milliseconds. */
const TYPED = 150;

/** After this long without an answer nobody knows what became of an action, milliseconds. */
const MAX_ACT = 60_000;

/** The address that a search form asks for, without fields that say nothing. */
function addressOf(form: HTMLFormElement): string {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string' || value === '' || (name === 'size' && value === '50')) continue;
    query.set(name, value);
  }
  const text = query.toString();
  return (form.action.split('?', 1)[0] ?? '') + (text === '' ? '' : `?${text}`);
}

/** Searches and filters as one types and chooses, and walks through lists without leaving them. */
export function listenToLists(live: Live): void {
  let typed = 0;
  const search = (form: HTMLFormElement): void => {
    const address = addressOf(form);
    if (address === location.href) return;
    history.replaceState(null, '', address);
    void live.load(address);
  };
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest<HTMLFormElement>('form[data-search]') : null;
    if (form === null) return;
    clearTimeout(typed);
    typed = setTimeout(() => search(form), target instanceof HTMLSelectElement ? 0 : TYPED);
  });
  document.addEventListener('click', (event) => {
    const link =
      event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-swap]') : null;
    if (
      link === null ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    void walk(link, live);
  });
  window.addEventListener('popstate', () => void live.refresh());
}

/** Who turns a page begins at its top. */
async function walk(link: HTMLAnchorElement, live: Live): Promise<void> {
  const turned = link.closest('.pager') !== null;
  await live.load(link.href);
  if (turned) document.getElementById('main')?.scrollIntoView();
}

/** Sends the confirmed forms of dialogs without leaving the page. */
export function listenToActions(live: Live): void {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    if (form.matches('[data-search]')) {
      event.preventDefault();
      return;
    }
    if (!form.matches('[data-act]')) return;
    event.preventDefault();
    void act(form, live);
  });
}

async function act(form: HTMLFormElement, live: Live): Promise<void> {
  const fields: [string, string][] = [];
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.push([name, value]);
  const button = form.querySelector<HTMLButtonElement>('button:not([type])');
  if (button !== null) button.disabled = true;
  try {
    const body = new URLSearchParams(fields);
    const answer = await fetch(form.action, { method: 'POST', body, signal: AbortSignal.timeout(MAX_ACT) });
    form.closest('dialog')?.close();
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.assign(answer.url);
    else if (answer.redirected) await live.refresh();
    else live.tell(await answer.text());
  } catch {
    form.closest('dialog')?.close();
    live.tell('');
  } finally {
    if (button !== null) button.disabled = false;
  }
}

/** Buttons that add one more row of fields. */
export function listenToRows(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-more]') : null;
    const row = document.getElementById(button?.dataset['more'] ?? '')?.lastElementChild;
    if (row === null || row === undefined) return;
    const next = row.cloneNode(true) as Element;
    for (const field of next.querySelectorAll('input')) field.value = '';
    row.after(next);
    next.querySelector('input')?.focus();
  });
}
