import { isWrite, type AuditEvent } from '../../src/devcluster/index.ts';
import { startOperatorProgram, type Program } from '../support/programs.ts';
import type { RealWorld } from '../support/real-world.ts';

export type Version = 'older' | 'present';

/** After a kill the lease has to run out; nobody wants to wait for long. */
const FLAGS = [
  '--leader-lease-duration=5s',
  '--leader-renew-deadline=4s',
  '--leader-retry-period=200ms',
  '--log-level=debug',
];

/** One operator after another over the same world, each version known to the API server under its own name. */
export class Operators implements AsyncDisposable {
  readonly #world: RealWorld;
  readonly #programs: Record<Version, string>;
  readonly #kubeconfigs: Record<Version, string>;
  #running: Program | undefined;

  constructor(world: RealWorld, programs: Record<Version, string>) {
    this.#world = world;
    this.#programs = programs;
    const of = (version: Version): string =>
      world.cluster.kubeconfigFor(this.#user(version), ['system:masters']);
    this.#kubeconfigs = { older: of('older'), present: of('present') };
  }

  start(version: Version): void {
    this.#running = startOperatorProgram({
      kubeconfigFile: this.#kubeconfigs[version],
      home: this.#world.home,
      namespaces: [this.#world.namespace],
      flags: FLAGS,
      main: this.#programs[version],
    });
  }

  /** Ends the one that runs: in good order, or as a node that fails does. */
  async end(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.[how]();
  }

  /** The one that runs makes way for another. */
  async exchange(version: Version, how?: 'stop' | 'kill'): Promise<void> {
    await this.end(how);
    this.start(version);
  }

  /** What the one that runs has said last, for failures. */
  said(): string {
    return this.#running?.said() ?? 'none runs';
  }

  /** What a version has written so far, Events and its leader lease aside. */
  writes(version: Version): AuditEvent[] {
    return this.#world.cluster
      .auditLog()
      .filter(
        (event) =>
          event.user.username === this.#user(version) &&
          isWrite(event) &&
          event.objectRef?.resource !== 'events' &&
          event.objectRef?.resource !== 'leases',
      );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  #user(version: Version): string {
    return `${version}-of-${this.#world.home}`;
  }
}
