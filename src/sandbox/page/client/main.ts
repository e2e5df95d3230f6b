import { follow, listenToLogs } from './follow.ts';
import { listenToActions, listenToLists, listenToRows } from './forms.ts';
import { listenToKeys, toggle } from './keys.ts';
import { Live } from './live.ts';

const live = new Live();
live.start();
listenToLists(live);
listenToActions(live);
listenToRows();
listenToLogs();
listenToKeys(live);
follow();

const button = document.getElementById('live');
if (button !== null && document.body.dataset['every'] !== '0') {
  button.hidden = false;
  button.addEventListener('click', () => toggle(live));
}

// Browsers from before 2026 may not know these attributes yet.
if (!('commandForElement' in HTMLButtonElement.prototype)) {
  document.addEventListener('click', ({ target }) => {
    const asked = target instanceof Element ? target.closest('[commandfor]') : null;
    const dialog = document.getElementById(asked?.getAttribute('commandfor') ?? '');
    if (!(dialog instanceof HTMLDialogElement)) return;
    if (asked?.getAttribute('command') === 'close') dialog.close();
    else dialog.showModal();
  });
}
