import { sleepOn, type Clock, type Timer } from '../../src/base/clock.ts';
import type { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { KubeAnswer, KubePort, KubeRequest, KubeWatch, WatchLine } from '../../src/kube/index.ts';
import type { ServicePort } from '../../src/service/index.ts';

/**
 * What a process has of the world: time and two ports. Once it is killed no timer of it fires, no call of it
 * goes out and no answer comes in, as if its memory were gone.
 */
export class Mortal {
  readonly clock: Clock;
  readonly #turn: (what: string) => boolean;
  readonly #timers = new Set<Timer>();
  readonly #watches = new Set<KubeWatch>();
  #alive = true;

  constructor(clock: Clock | VirtualClock) {
    this.#turn = (what) => !('turn' in clock) || clock.turn(what);
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (ms, fn) => this.#setTimer(clock, ms, fn),
      sleep: (ms, signal) => sleepOn(this.clock, ms, signal),
    };
  }

  get alive(): boolean {
    return this.#alive;
  }

  kill(): void {
    this.#alive = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
  }

  kube(port: KubePort): KubePort {
    return {
      request: (request) =>
        this.#whileAlive(`${request.method} ${request.path}`, () => port.request(request)),
      watch: (request) => this.#whileAlive(`WATCH ${request.path}`, () => this.#watch(port, request)),
    };
  }

  service(port: ServicePort): ServicePort {
    return {
      ...port,
      send: (request) => this.#whileAlive(`${request.method} ${request.path}`, () => port.send(request)),
    };
  }

  async #watch(port: KubePort, request: KubeRequest): Promise<KubeWatch> {
    const watch = await port.watch(request);
    this.#watches.add(watch);
    return { ...watch, events: this.#lines(watch), close: () => watch.close() };
  }

  async *#lines(watch: KubeWatch): AsyncGenerator<WatchLine, void, undefined> {
    try {
      for await (const line of watch.events) {
        if (!this.#alive) return;
        yield line;
      }
    } finally {
      this.#watches.delete(watch);
    }
  }

  async #whileAlive<T extends KubeAnswer | KubeWatch | object>(
    what: string,
    call: () => Promise<T>,
  ): Promise<T> {
    // What goes round without letting time pass is stopped here: no timer ever would.
    if (!this.#alive || !this.#turn(what)) return never();
    try {
      const answer = await call();
      return this.#alive ? answer : await never();
    } catch (error) {
      if (!this.#alive) return never();
      throw error;
    }
  }

  #setTimer(clock: Clock, ms: number, fn: () => void): Timer {
    if (!this.#alive) return { cancel: () => undefined };
    const timer = clock.setTimer(ms, () => {
      this.#timers.delete(timer);
      fn();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
