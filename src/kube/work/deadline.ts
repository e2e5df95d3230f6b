import type { Clock, Timer } from '../../base/clock.ts';
import type { Priority } from '../../base/priority.ts';

/** A limit on the time of some work, less the time that the work waits for its turn somewhere. */
export class Deadline {
  readonly #clock: Clock;
  readonly #priority: Priority;
  readonly #onOver: () => void;
  readonly #unfollow: () => void;
  #leftMs: number;
  #running: { timer: Timer; since: number } | undefined;

  constructor(clock: Clock, ms: number, priority: Priority, onOver: () => void) {
    this.#clock = clock;
    this.#priority = priority;
    this.#onOver = onOver;
    this.#leftMs = ms;
    this.#unfollow = priority.onChange(() => this.#follow());
    this.#follow();
  }

  cancel(): void {
    this.#unfollow();
    this.#stop();
  }

  #follow(): void {
    if (this.#priority.waits) this.#stop();
    else
      this.#running ??= {
        timer: this.#clock.setTimer(this.#leftMs, this.#onOver),
        since: this.#clock.monotonic(),
      };
  }

  #stop(): void {
    if (this.#running === undefined) return;
    this.#running.timer.cancel();
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.monotonic() - this.#running.since));
    this.#running = undefined;
  }
}
