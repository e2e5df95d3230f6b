import { patch } from './morph.ts';
import { follow } from './follow.ts';

/** Failed looks wait longer and longer, up to this, milliseconds. */
const MAX_WAIT = 10_000;

/** A service that takes longer than this says nothing any more, milliseconds. */
const MAX_ANSWER = 30_000;

/** Keeps the page as the service has it. */
export class Live {
  #etag = '';
  #timer = 0;
  #failures = 0;
  #paused = false;
  /** Of the newest question: the answers to older ones come too late. */
  #turn = 0;

  start(): void {
    this.#schedule();
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void this.refresh();
    });
  }

  get paused(): boolean {
    return this.#paused;
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    if (!paused) void this.refresh();
  }

  /** Looks for news of what is shown. */
  async refresh(): Promise<void> {
    await this.load(location.href);
  }

  /** Shows what an address has, without leaving the page. */
  async load(href: string): Promise<void> {
    clearTimeout(this.#timer);
    const turn = ++this.#turn;
    try {
      const headers = { accept: 'text/html', ...(this.#etag === '' ? {} : { 'if-none-match': this.#etag }) };
      const answer = await fetch(href, {
        cache: 'no-store',
        headers,
        signal: AbortSignal.timeout(MAX_ANSWER),
      });
      if (answer.status !== 304) await this.#show(answer, turn);
      this.#reached();
    } catch {
      this.#failures++;
      lost(`The service does not answer. Trying again …`);
    }
    if (turn === this.#turn) this.#schedule();
  }

  /** Shows the answer to a form: what the service said against it. */
  tell(text: string): void {
    this.#turn++;
    const next = new DOMParser().parseFromString(text, 'text/html');
    if (text === '') lost('The service does not answer: nothing is known of what became of this.');
    else if (next.body.dataset['page'] === 'inside') show(next);
    else location.reload();
    this.#etag = '';
    this.#schedule();
  }

  async #show(answer: Response, turn: number): Promise<void> {
    const text = await answer.text();
    // A newer question is on its way, or somebody paused meanwhile.
    if (turn !== this.#turn) return;
    const next = new DOMParser().parseFromString(text, 'text/html');
    if (next.body.dataset['page'] !== 'inside') {
      location.reload();
      return;
    }
    this.#etag = answer.headers.get('etag') ?? '';
    show(next);
  }

  #reached(): void {
    this.#failures = 0;
    lost('');
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const every = Number(document.body.dataset['every'] ?? 0);
    if (every === 0) return;
    const wait = Math.min(every * 2 ** this.#failures, MAX_WAIT);
    this.#timer = setTimeout(() => {
      if (this.#paused || document.hidden) this.#schedule();
      else void this.refresh();
    }, wait);
  }
}

/** Takes over what another document shows. */
function show(next: Document): void {
  document.title = next.title;
  document.body.dataset['every'] = next.body.dataset['every'] ?? '0';
  for (const place of ['main', 'nav.sections']) {
    const old = document.querySelector(place);
    const fresh = next.querySelector(place);
    if (old !== null && fresh !== null) patch(old, fresh);
  }
  follow();
}

function lost(text: string): void {
  const told = document.getElementById('lost');
  if (told === null || told.textContent === text) return;
  told.textContent = text;
  told.hidden = text === '';
}
