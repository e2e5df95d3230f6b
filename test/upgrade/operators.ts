import { isWrite, type AuditEvent } from '../../src/devcluster/index.ts';
import { eventually } from '../support/eventually.ts';
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
    this.#running = this.#begin(version);
  }

  /** As a rolling update does it: the next one waits for the lead before the one that has it is told to go. */
  async roll(version: Version): Promise<void> {
    const before = this.#running;
    const looks = this.#leaseCalls(version).length;
    this.#running = this.#begin(version);
    await eventually(`the ${version} version waits`, () => this.#leaseCalls(version).length > looks + 1, {
      timeoutMs: 120_000,
    });
    await before?.stop();
  }

  /** Who has written the leader lease, one after the other. */
  leaders(since: number): Version[] {
    return this.#world.cluster
      .auditLog()
      .slice(since)
      .filter((event) => isWrite(event) && event.objectRef?.resource === 'leases')
      .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
      .flatMap(({ user }) =>
        (['older', 'present'] as const).filter((one) => user.username === this.#user(one)),
      );
  }

  #begin(version: Version): Program {
    return startOperatorProgram({
      kubeconfigFile: this.#kubeconfigs[version],
      home: this.#world.home,
      namespaces: [this.#world.namespace],
      flags: FLAGS,
      main: this.#programs[version],
      // A host of the older version is one at every port; since then it names its ports.
      ...(version === 'older' ? { allowedHosts: '127.0.0.1' } : {}),
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

  #leaseCalls(version: Version): AuditEvent[] {
    return this.#world.cluster
      .auditLog()
      .filter(
        ({ user, objectRef }) => user.username === this.#user(version) && objectRef?.resource === 'leases',
      );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  #user(version: Version): string {
    return `${version}-of-${this.#world.home}`;
  }
}
