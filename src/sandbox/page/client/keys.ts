import type { Live } from './live.ts';

const KEPT = 'boxwright-keys';

/** Whether single keys do something: somebody who speaks to the computer may not want that. */
function keysOn(): boolean {
  return localStorage.getItem(KEPT) !== 'off';
}

export function listenToKeys(live: Live): void {
  const box = document.getElementById('keys-on');
  if (box instanceof HTMLInputElement) {
    box.checked = keysOn();
    box.addEventListener('change', () => localStorage.setItem(KEPT, box.checked ? 'on' : 'off'));
  }
  let going = -Infinity;
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    if (target instanceof HTMLElement && isTyping(target)) {
      if (key === 'Escape' && target.id === 'q') target.blur();
      return;
    }
    if (!keysOn() || document.querySelector('dialog[open]') !== null) return;
    const gone = going > event.timeStamp - 1_500;
    going = !gone && key === 'g' ? event.timeStamp : -Infinity;
    const did = gone ? /^[a-z]$/.test(key) && press(`a[data-go="${key}"]`) : act(key, live);
    if (did) event.preventDefault();
  });
}

function isTyping(element: HTMLElement): boolean {
  return element.matches('input:not([type=checkbox]), textarea, select') || element.isContentEditable;
}

function act(key: string, live: Live): boolean {
  switch (key) {
    case '/': {
      const field = document.getElementById('q');
      if (!(field instanceof HTMLInputElement)) return false;
      field.focus();
      field.select();
      return true;
    }
    case 'j':
      return step(1);
    case 'k':
      return step(-1);
    case '?':
      return press('[commandfor=help]');
    case '.':
      toggle(live);
      return true;
    default:
      return /^[a-z]$/.test(key) && press(`[data-key="${key}"]`);
  }
}

function press(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  found?.click();
  return found !== null;
}

/** Puts the focus on the link of the next row. */
function step(by: number): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('[data-rows] tbody tr td:first-child a')];
  if (links.length === 0) return false;
  const row = document.activeElement?.closest('tr');
  const now = links.findIndex((link) => link.closest('tr') === row);
  const next = now === -1 ? (by > 0 ? 0 : links.length - 1) : now + by;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
  return true;
}

/** Pauses and goes on with looking for news. */
export function toggle(live: Live): void {
  live.paused = !live.paused;
  const button = document.getElementById('live');
  button?.setAttribute('aria-pressed', String(!live.paused));
  if (button !== null) button.textContent = live.paused ? 'Paused' : 'Live';
}
