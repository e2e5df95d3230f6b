import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { GROUP } from '../../api/names.ts';
import { KubeClient, LEASES, loadKubeConfig, UndiciKubePort, type KubeObject } from '../../kube/index.ts';
import type { CliIo } from '../command.ts';
import { CommandFailedError, EXIT } from '../exit-codes.ts';
import { OPERATOR_FLAGS } from '../operator/flags.ts';
import { runOperator, type OperatorSettings } from '../operator/run.ts';
import { proxiesOf } from '../proxies.ts';
import { paintFor, type OutputStream, type Paint } from '../terminal.ts';
import { Board } from '../watch/board.ts';
import { rowOf, type Row } from '../watch/row.ts';
import { Watched } from '../watch/watched.ts';
import { Applier, type Applied } from './apply.ts';
import type { DevCluster } from './cluster.ts';
import type { DevFlags } from './flags.ts';
import { nextCommands } from './hints.ts';
import type { Manifest } from './manifests.ts';
import { outcomeObject, reasonsOf, Waiting, type Expected, type Outcome } from './outcome.ts';
import { leftovers, remove, removeNamespace, type Traces } from './removal.ts';
import { connectionManifests, type DevService } from './service.ts';
import { demoTable, seconds } from './table.ts';

export interface SessionOptions {
  flags: DevFlags;
  io: CliIo;
  /** Of the operator. */
  log: Logger;
  manifests: readonly Manifest[];
  service: DevService;
  cluster: DevCluster;
  /** Monotonic time at which the command began. */
  startedAt: number;
}

/** As `boxwright operator` calls it. */
const LEASE = OPERATOR_FLAGS.leaseName.default;
/** Cluster, service and operator share one machine here, which may be busy with other things for a while. */
const LEADER = { name: LEASE, leaseDurationMs: 40_000, renewDeadlineMs: 30_000 };

interface LeaseFacts extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

/** Cluster and service are there: the operator runs, the examples are applied, and somebody watches. */
export class Session {
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #people: OutputStream;
  readonly #paint: Paint;
  readonly #ending = new AbortController();
  readonly #background: Promise<unknown>[] = [];
  readonly #traces: { applied: Applied[]; namespaces: string[]; kinds: string[] } = {
    applied: [],
    namespaces: [],
    kinds: [],
  };
  #port: UndiciKubePort | undefined;
  #kube: KubeClient | undefined;
  #operatorWell = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#clock = options.io.clock;
    // Programs that read standard output get the outcome and nothing else.
    this.#people = options.flags.output === 'json' ? options.io.stderr : options.io.stdout;
    this.#paint = paintFor(this.#people, options.io.env);
  }

  /** Resolves with the exit code, once everything is Ready (with `--exit`) or the user wants the end. */
  async run(): Promise<number> {
    const { flags, io, manifests, service, cluster, startedAt } = this.#options;
    // Not from the start of the command: a control plane that is built first takes longer than any example.
    const begunAt = this.#clock.monotonic();
    const stop = io.interrupt.signal;
    const kube = await this.#connect();
    const applier = new Applier(kube, this.#clock, stop);
    this.#traces.kinds.push(...(await applier.installKinds()));
    for (const name of [flags.namespace, flags.systemNamespace]) {
      if (await applier.namespace(name)) this.#traces.namespaces.push(name);
    }
    if (!cluster.embedded) await this.#refuseSecondOperator(kube);
    const operator = this.#startOperator();
    const watched = new Watched({
      port: kube.port,
      clock: this.#clock,
      random: io.random,
      namespace: flags.namespace,
    });
    const rowsNow = (): Row[] => watched.resources().map((resource) => rowOf(resource, this.#clock.now()));
    const board = new Board({
      stream: this.#people,
      env: io.env,
      clock: this.#clock,
      startedAt,
      shown: demoTable(rowsNow),
    });
    let onlineAt: number | undefined;
    // Everything is applied: from now on the rows tell what is missing.
    let complete = false;
    const waiting = new Waiting(this.#clock, { untilStalled: flags.exit });
    const changed = (): void => {
      board.refresh();
      const rows = rowsNow();
      if (onlineAt === undefined && rows.some(isOnline)) onlineAt = this.#clock.monotonic();
      if (complete) waiting.update(this.#expected(rows));
    };
    this.#background.push(watched.follow(this.#ending.signal, changed));
    // All at once: what refers to something that comes later waits for it.
    const outcomes = await Promise.allSettled(
      [...connectionManifests(service), ...manifests].map((manifest) =>
        applier.apply(manifest, flags.namespace),
      ),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') this.#traces.applied.push(outcome.value);
    }
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused !== undefined) throw refused.reason;
    complete = true;
    changed();
    const ended = Promise.race([operator, cluster.broken]);
    const stopped = Promise.race([ended, aborted(stop)]).then(() => 'stopped' as const);
    const outcome = await Promise.race([
      waiting.end,
      stopped,
      ...(flags.exit ? [this.#late(begunAt + flags.timeout)] : []),
    ]).finally(() => waiting.close());
    board.end();
    if (outcome === 'stopped') return io.interrupt.exitCode;
    this.#report(outcome, this.#expected(rowsNow()), onlineAt);
    if (outcome !== 'Ready') return EXIT.failed;
    if (flags.exit) return EXIT.ok;
    this.#say(['', ...nextCommands(cluster, manifests), '', this.#paint.dim('^C ends it.')]);
    await stopped;
    return EXIT.ok;
  }

  /** Takes away what should not stay, ends the operator, and says what stays. */
  async close(): Promise<void> {
    const { cluster, service, flags, io } = this.#options;
    const lasting = !cluster.embedded || !service.embedded;
    let stuck: string[] = [];
    if (lasting && !flags.keep && this.#operatorWell && this.#kube !== undefined) {
      this.#say(['Deleting what was applied …']);
      try {
        stuck = await remove(this.#kube, this.#traces, { clock: this.#clock, namespace: flags.namespace });
        if (stuck.length === 0 && this.#traces.namespaces.includes(flags.namespace)) {
          await removeNamespace(this.#kube, flags.namespace);
          this.#traces.namespaces.splice(this.#traces.namespaces.indexOf(flags.namespace), 1);
        }
      } catch (error) {
        io.stderr.write(`what was applied cannot be deleted: ${(error as Error).message}\n`);
      }
    }
    this.#ending.abort(new Error('the end'));
    await Promise.allSettled(this.#background);
    await this.#port?.close();
    const traces: Traces = this.#traces;
    if (!cluster.embedded) this.#say(leftovers(traces, stuck, cluster.kubectl.replace(/ -n \S+$/, '')));
  }

  async #connect(): Promise<KubeClient> {
    const { cluster, io } = this.#options;
    const { source, server } = await loadKubeConfig(cluster.access);
    this.#port = new UndiciKubePort({ source, clock: this.#clock });
    const kube = new KubeClient(this.#port, { clock: this.#clock, random: io.random });
    this.#kube = kube;
    try {
      await kube.raw('/version', { signal: io.interrupt.signal });
    } catch (cause) {
      if (io.interrupt.signal.aborted) throw cause;
      throw new CommandFailedError(`the cluster at ${server} does not answer`, { cause });
    }
    return kube;
  }

  /** Two operators in one namespace would take turns, and one of them cannot reach our service. */
  async #refuseSecondOperator(kube: KubeClient): Promise<void> {
    const ref = { namespace: this.#options.flags.systemNamespace, name: LEASE };
    const lease = await kube.get<LeaseFacts>(LEASES, ref, { signal: this.#options.io.interrupt.signal });
    const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
    // The clock of whoever wrote it may differ from ours: this only spares somebody a wait without a word.
    const age = this.#clock.now() - Date.parse(renewTime ?? '');
    if (holderIdentity === '' || !(age < leaseDurationSeconds * 1_000)) return;
    throw new CommandFailedError(
      `an operator (${holderIdentity}) is at work in namespace ${ref.namespace}: end it first, ` +
        'or give another namespace with --system-namespace',
    );
  }

  /** Rejects when the operator fails; resolves when it was told to end. */
  #startOperator(): Promise<void> {
    const { io, log } = this.#options;
    this.#operatorWell = true;
    const running = runOperator(
      this.#settings(),
      { clock: this.#clock, random: io.random, log },
      this.#ending.signal,
    ).catch((cause: unknown) => {
      this.#operatorWell = false;
      throw new CommandFailedError('the operator failed', { cause });
    });
    // Whoever waits for it hears of it; before that, nobody does.
    running.catch(() => undefined);
    this.#background.push(running);
    return running;
  }

  #settings(): OperatorSettings {
    const { flags, service, cluster } = this.#options;
    const endpoint = new URL(service.endpoint);
    return {
      cluster: cluster.access,
      namespace: flags.systemNamespace,
      namespaces: [flags.namespace],
      // The user named the endpoint on the command line, or it is our own: that one and no other.
      endpoints: {
        allowedHosts: [endpoint.host],
        allowInsecure: endpoint.protocol === 'http:',
        allowLoopback: true,
        // Our own service is on loopback: what the variables hold does not matter then.
        ...(service.embedded ? {} : { proxies: proxiesOf(this.#options.io.env) }),
      },
      ...(cluster.embedded ? {} : { leader: LEADER }),
    };
  }

  async #late(deadline: number): Promise<'TimedOut'> {
    const left = deadline - this.#clock.monotonic();
    await this.#clock.sleep(left, this.#ending.signal).catch(() => new Promise(() => undefined));
    return 'TimedOut';
  }

  /** What was applied of our kinds. */
  #expected(rows: readonly Row[]): Expected[] {
    return this.#traces.applied
      .filter(({ type }) => type.group === GROUP)
      .map(({ type, ref: { name } }) => {
        const row = rows.find((other) => other.kind === type.kind && other.name === name);
        return { kind: type.kind, name, ...(row === undefined ? {} : { row }) };
      });
  }

  #report(outcome: Outcome, expected: readonly Expected[], onlineAt: number | undefined): void {
    const { startedAt, io, flags } = this.#options;
    const ms = this.#clock.monotonic() - startedAt;
    const onlineMs = onlineAt === undefined ? undefined : onlineAt - startedAt;
    if (flags.output === 'json') {
      const object = outcomeObject(outcome, expected, { namespace: flags.namespace, ms, onlineMs });
      io.stdout.write(`${JSON.stringify(object)}\n`);
    }
    if (outcome === 'Ready') {
      const lines = [`All ${expected.length} resources are Ready after ${seconds(ms)}.`];
      if (onlineMs !== undefined) lines.push(`First Instance Online after ${seconds(onlineMs)}.`);
      this.#say(['', ...lines.map((line) => this.#paint.bold(line))]);
      return;
    }
    const head =
      outcome === 'Stalled'
        ? `Not everything can become Ready, after ${seconds(ms)}:`
        : `Not Ready after ${seconds(flags.timeout)}:`;
    const lines = reasonsOf(expected).map((line) => `  ${line}\n`);
    io.stderr.write(`\n${head}\n${lines.join('')}`);
  }

  #say(lines: readonly string[]): void {
    for (const line of lines) this.#people.write(`${line}\n`);
  }
}

function isOnline({ kind, phase }: Row): boolean {
  return kind === 'Instance' && phase === 'Online';
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
