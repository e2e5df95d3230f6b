/** Logs that are followed show their last line, unless their reader has scrolled away from it. */
export function follow(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-follows]')) {
    const log = document.getElementById(button.dataset['follows'] ?? '');
    if (log !== null && button.getAttribute('aria-pressed') === 'true') log.scrollTop = log.scrollHeight;
  }
}

/** Scrolling up ends following, scrolling down to the end goes on with it; the button says which, and does both. */
export function listenToLogs(): void {
  document.addEventListener(
    'scroll',
    ({ target }) => {
      if (!(target instanceof HTMLElement) || target.dataset['follow'] === undefined) return;
      const atEnd = target.scrollHeight - target.scrollTop - target.clientHeight < 8;
      document.querySelector(`[data-follows="${target.id}"]`)?.setAttribute('aria-pressed', String(atEnd));
    },
    { capture: true, passive: true },
  );
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-follows]') : null;
    if (button === null) return;
    button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
    follow();
  });
}
