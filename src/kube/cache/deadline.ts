import type { Clock, Timer } from '../../base/clock.ts';

/** A signal that follows its parent and a timer that can be set again. */
export class Deadline {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#parent.reason);
  #timer: Timer | undefined;
  fired: 'idle' | 'guard' | undefined;

  constructor(clock: Clock, parent: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    if (parent.aborted) this.#follow();
    else parent.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  set(ms: number, what: 'idle' | 'guard'): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(ms, () => {
      this.fired = what;
      this.#controller.abort(new Error(`no sign of life for ${ms} ms`));
    });
  }

  clear(): void {
    this.#timer?.cancel();
    this.#parent.removeEventListener('abort', this.#follow);
  }
}
