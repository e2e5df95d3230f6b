import { isOurs, referencesOf, type KindName } from '../api/kinds.ts';
import { CONDITIONS } from '../api/reasons.ts';
import type { Clock, Random } from '../base/clock.ts';
import type { MemoryBudget } from '../base/memory-budget.ts';
import type { Turns } from '../base/turns.ts';
import type { Logger } from '../base/logger.ts';
import type { Lane } from '../base/priority.ts';
import type { Tracer } from '../base/tracer.ts';
import { KnownSecrets } from '../base/masking/known-secrets.ts';
import {
  CONFIG_MAPS,
  Controller,
  Informer,
  type HealthCheck,
  type KubeClient,
  type Metrics,
  type Reconcile,
  type Recorder,
  type ReflectorNotice,
  type Runner,
  type Source,
  type StoredObject,
} from '../kube/index.ts';
import type { CallReport } from '../service/index.ts';
import type { CacheRoom } from './cache-room.ts';
import { Caches } from './caches.ts';
import { hasNewMeaning, type ResourceChange } from './changes.ts';
import { ConnectionPool, type PortFactory } from './connection/index.ts';
import type { OperatorContext } from './context.ts';
import { loadIdentity } from './installation.ts';
import { eventTarget } from './event-target.ts';
import type { KeptRecords } from './kept-records.ts';
import { WIRING } from './kinds.ts';
import { DomainMetrics } from './metrics/index.ts';
import { Holdings } from './record/holdings.ts';
import { isClaimedElsewhere } from './record/identity/claim.ts';
import { Restarts } from './restarts.ts';
import { OWN_SECRETS } from './rights.ts';
import { SealTurns } from './record/seal-turns.ts';
import type { SecretSelector } from './secret-policy.ts';
import { SecretWatch } from './secret-watch.ts';
import { KubeSources, type Sources } from './sources.ts';
import type { Queues, WiredKind } from './wired-kind.ts';

/** Options of {@link Operator}. */
export interface OperatorOptions {
  kube: KubeClient;
  clock: Clock;
  random: Random;
  log: Logger;
  recorder: Recorder;
  memory: MemoryBudget;
  /** What the caches have for large resources. */
  room: CacheRoom;
  kept: KeptRecords;
  turns: Turns;
  metrics?: Metrics;
  /** Each pass is a span of it, and each call to the service one inside. */
  tracer?: Tracer;
  /** The operator's own namespace: its ConfigMap, its key and its leader lease live there. */
  namespace: string;
  /** Watch these namespaces only; absent: all. */
  namespaces?: readonly string[];
  /** What the user gave with `--installation-id`. */
  installationId?: string;
  /** What the user gave with `--restore`. */
  restore?: boolean;
  /** Follow the metadata of Secrets, which needs list and watch on them. @defaultValue false */
  watchSecrets?: boolean;
  /** Labels that a Secret has to carry for anything of it to be read. @defaultValue none */
  secretSelector?: SecretSelector;
  /** When this process and those before it began to lead, milliseconds of wall time. @defaultValue not known */
  starts?: () => readonly number[];
  /** Keep credentials of what is being deleted in a Secret, encrypted. @defaultValue false */
  keepCredentials?: boolean;
  portFor: PortFactory;
  /** Passes of one kind at the same time. @defaultValue 96 */
  workers?: number;
  onCall?: (connection: string, report: CallReport) => void;
  /** A Connection, `namespace/name`, is gone: nothing is reported of it any more. */
  onConnectionGone?: (connection: string) => void;
  onNotice?: (notice: ReflectorNotice) => void;
}

const WORKERS = 96;
/** What cannot be loaded at the start is tried again after so long, milliseconds. */
const LOAD_RETRY_MS = 2_000;

/** A kind's own controller, and what else the operator has to know of it. */
type Controllers = ReadonlyMap<KindName, { controller: Controller; wired: WiredKind }>;

/**
 * All controllers of Boxwright over one cluster: the caches to follow, and what runs while leading. It knows no kind:
 * what there are stands in kinds.ts.
 */
export class Operator implements Runner {
  readonly name = 'boxwright';
  readonly sources: readonly Source[];
  /** What works less well than it was told to, by name; in words for a person. */
  readonly notes: Readonly<Record<string, HealthCheck>>;
  readonly #options: OperatorOptions;
  readonly #caches: Caches;
  readonly #configMaps: Informer<StoredObject>;
  readonly #secretWatch: SecretWatch | undefined;
  readonly #metrics: DomainMetrics | undefined;

  constructor(options: OperatorOptions) {
    this.#options = options;
    const { kube, clock, random, turns, metrics, namespaces, onNotice } = options;
    this.#metrics = metrics === undefined ? undefined : new DomainMetrics(metrics, clock);
    const shared = {
      port: kube.port,
      clock,
      random,
      turns,
      room: options.room,
      ...(namespaces === undefined ? {} : { namespaces }),
      ...(onNotice === undefined ? {} : { onNotice }),
    };
    this.#caches = new Caches(shared);
    this.#configMaps = new Informer<StoredObject>({
      ...shared,
      type: CONFIG_MAPS,
      metadataOnly: true,
      prune: nameAndVersion,
    });
    this.#secretWatch =
      options.watchSecrets === true ? new SecretWatch({ ...shared, log: options.log }) : undefined;
    this.sources = [
      ...this.#caches.all.map((cache) => cache.informer),
      this.#configMaps,
      ...(this.#secretWatch === undefined ? [] : [this.#secretWatch]),
    ];
    this.notes = { secrets: () => this.#secretWatch?.problem() };
  }

  /** Works until `stop`; the Manager calls it once the caches are in sync and this process leads. */
  async run(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const both = AbortSignal.any([stop, abort]);
    const context = await this.#context(both);
    if (context === undefined) return;
    const pool = new ConnectionPool({
      context,
      portFor: this.#options.portFor,
      onCall: (key, report) => {
        this.#options.onCall?.(key, report);
        this.#traceCall(key, report);
      },
      onGone: (key) => this.#options.onConnectionGone?.(key),
    });
    const controllers = this.#controllers({ ...context, connections: pool }, pool);
    await this.#show(controllers);
    const unwatch = this.#watch(controllers, context.sources);
    const { id: installationId } = context.installation;
    const watched = { caches: this.#caches.all, clients: () => pool.standings(), installationId };
    this.#tellOfForeigners(installationId);
    if (this.#metrics !== undefined) unwatch.push(this.#metrics.watch(watched));
    try {
      const outcomes = await Promise.allSettled(
        [...controllers.values()].map(({ controller }) => controller.run(stop, abort)),
      );
      const bad = outcomes.find((outcome) => outcome.status === 'rejected');
      if (bad !== undefined) throw bad.reason;
    } finally {
      for (const end of unwatch) end();
      pool.closeAll();
    }
  }

  async #context(signal: AbortSignal): Promise<Omit<OperatorContext, 'connections'> | undefined> {
    const { kube, namespace, clock, random, log, recorder, installationId, restore, memory, kept, turns } =
      this.#options;
    for (;;) {
      if (signal.aborted) return undefined;
      try {
        const { installation, keys } = await loadIdentity({
          kube,
          namespace,
          confirmedId: installationId,
          restore,
          hasRecords: () => this.#hasRecords(),
          signal,
        });
        if (installation.unconfirmed !== undefined)
          log.error({ reason: installation.unconfirmed }, 'nothing is written');
        const sources = new KubeSources({
          kube,
          clock,
          configMaps: this.#configMaps,
          memory,
          secretWatch: this.#secretWatch,
          secretSelector: this.#options.secretSelector,
          own: new Set(OWN_SECRETS.map((name) => `${namespace}/${name}`)),
        });
        const secrets = new KnownSecrets();
        const sealTurns = new SealTurns();
        const context = {
          clock,
          random,
          log,
          memory,
          kept,
          turns,
          kube,
          recorder,
          installation,
          restarts: new Restarts(this.#options.starts?.() ?? []),
          ...keys,
          sealTurns,
          sources,
          secrets,
        };
        return this.#metrics === undefined ? context : { ...context, observer: this.#metrics.observer };
      } catch (error) {
        if (signal.aborted) return undefined;
        log.error({ error, namespace }, 'the key and the installation id cannot be loaded');
        await clock.sleep(LOAD_RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  #controllers(context: OperatorContext, pool: ConnectionPool): Controllers {
    const controllers = new Map<KindName, { controller: Controller; wired: WiredKind }>();
    const { namespace, keepCredentials = false } = this.#options;
    const deps = {
      context,
      caches: this.#caches,
      queues: this.#queues(controllers),
      holdings: new Holdings(),
      pool,
      namespace,
      keepCredentials,
    };
    for (const { kind } of this.#caches.all) {
      const wired = WIRING[kind](deps);
      controllers.set(kind, { wired, controller: this.#controller(kind, wired.reconcile) });
    }
    return controllers;
  }

  #queues(controllers: Controllers): Queues {
    const add: Queues['add'] = (kind, key, lane, byPerson = false) =>
      controllers.get(kind)?.controller.queue.add(key, lane, byPerson);
    return {
      add,
      addReferrers: (of, namespace, name, byPerson) => {
        for (const { kind, metadata } of this.#caches.referrers(of, namespace, name)) {
          add(kind, `${metadata.namespace}/${metadata.name}`, 'normal', byPerson);
        }
      },
    };
  }

  #controller(kind: KindName, reconcile: Reconcile): Controller {
    const { clock, random, metrics, log, turns, workers } = this.#options;
    return new Controller({
      name: kind.toLowerCase(),
      // One after the other: what a hundred passes do at once nothing else comes between.
      reconcile: this.#traced(kind, async (key, run) => {
        const [namespace = ''] = key.split('/');
        await turns.of(namespace).take();
        return reconcile(key, run);
      }),
      clock,
      random,
      logger: log,
      ...(metrics === undefined ? {} : { metrics }),
      workers: workers ?? WORKERS,
    });
  }

  #traced(kind: KindName, reconcile: Reconcile): Reconcile {
    const { tracer } = this.#options;
    if (tracer === undefined) return reconcile;
    return (key, run) => {
      const [namespace = '', name = ''] = key.split('/');
      const attributes = {
        'k8s.namespace.name': namespace,
        'boxwright.kind': kind,
        'boxwright.name': name,
        'boxwright.priority': run.priority.lane,
      };
      return tracer.within(`reconcile ${kind}`, attributes, async () => reconcile(key, run));
    };
  }

  #traceCall(connection: string, { method, template, status, ms, outcome }: CallReport): void {
    this.#options.tracer?.note({
      name: `${method} ${template}`,
      attributes: {
        'boxwright.connection': connection,
        'boxwright.outcome': outcome,
        'http.request.method': method,
        'url.template': template,
        ...(status === undefined ? {} : { 'http.response.status_code': status }),
      },
      ms,
      ...(outcome === 'ok' || outcome === 'NotFound' ? {} : { failure: outcome }),
    });
  }

  /** Shows what is there already to those who look after it, in turns: there may be ten thousands. */
  async #show(controllers: Controllers): Promise<void> {
    for (const cache of this.#caches.all) {
      const { wired } = controllers.get(cache.kind) ?? {};
      for (const [i, resource] of cache.list().entries()) {
        if (i % SHOWN_A_TURN === 0) await this.#options.turns.take();
        wired?.seen?.(resource);
      }
    }
  }

  /** Changes become keys in queues; what of a resource takes a hash is made out. Nothing else happens here. */
  #watch(controllers: Controllers, sources: Sources): (() => void)[] {
    const { add, addReferrers } = this.#queues(controllers);
    // What is there when this begins was handled before, by whoever led: a periodic look will do.
    let starting = true;
    const ends = this.#caches.all.map((cache) =>
      cache.onChange((change) => {
        const { kind } = cache;
        const { namespace, name } = change.object.metadata;
        const lane = starting ? 'periodic' : laneOf(change);
        if (change.type !== 'deleted') controllers.get(kind)?.wired.seen?.(change.object);
        const echo = cache.isOwnWrite && change.type !== 'deleted';
        if (!echo && hasNewMeaning(change)) add(kind, `${namespace}/${name}`, lane, !starting);
        if (starting) return;
        const wired = controllers.get(kind)?.wired;
        if (wired?.matters(change) === true) {
          addReferrers(kind, namespace, name);
          for (const other of wired.alsoConcerned?.(change.object) ?? [])
            add(other.kind, other.key, 'normal');
        }
        const isGone = change.type === 'deleted';
        if (!isGone && wired?.tells === undefined) return;
        const before = change.type === 'updated' ? referencesOf(change.old) : [];
        for (const reference of [...referencesOf(change.object), ...before]) {
          // What it referred to may go now.
          if (isOurs(reference.kind) && (isGone || wired?.tells?.includes(reference.kind) === true)) {
            add(reference.kind, `${namespace}/${reference.name}`, 'normal');
          }
        }
      }),
    );
    const configMaps = this.#configMaps.onChange(({ object }) => {
      if (!starting) addReferrers('ConfigMap', object.metadata.namespace ?? '', object.metadata.name, true);
    });
    const secrets = this.#secretWatch?.onChange((namespace, name) => {
      if (starting) return;
      sources.forgetSecret(namespace, name);
      addReferrers('Secret', namespace, name, true);
    });
    starting = false;
    return [...ends, configMaps, ...(secrets === undefined ? [] : [secrets])];
  }

  /** Another installation over the same namespaces is a mistake that shows in nothing that either of them does. */
  #tellOfForeigners(installationId: string): void {
    const claimed = this.#caches.all.flatMap((cache) =>
      cache.list().filter((resource) => isClaimedElsewhere(resource, installationId)),
    );
    const [first] = claimed;
    if (first === undefined) return;
    const { recorder, log } = this.#options;
    const { namespace, name } = first.metadata;
    log.warn({ resources: claimed.length, namespace, name }, 'resources are claimed by another installation');
    recorder.event({
      regarding: eventTarget(first.kind, first),
      type: 'Warning',
      reason: 'Conflict',
      action: 'Start',
      note: `Another installation of Boxwright claims this ${first.kind}: where two run over the same namespaces, let each look after its own with --namespaces`,
    });
  }

  /** Annotations are anybody's to write; status is not. */
  #hasRecords(): boolean {
    return this.#caches.all.some((cache) => cache.list().some(({ status }) => 'id' in status));
  }
}

/** Annotations may be of 256 KiB, as what `kubectl apply` keeps of a ConfigMap's content is. */
function nameAndVersion({ apiVersion, kind, metadata }: StoredObject): StoredObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } } as StoredObject;
}

/** So many resources are shown to those who look after them at a time. */
const SHOWN_A_TURN = 50;

/** Reasons of what has not been in place yet. */
const FIRST_TIME: ReadonlySet<string> = new Set([
  'Pending',
  'Creating',
  'Deploying',
  'WaitingForReference',
  'WaitingForConnection',
]);

/**
 * An edit of something that was in place, or that was edited before and is on its way, goes first; a deletion and what
 * concerns a record that is there go ahead of what has none yet.
 */
function laneOf(change: ResourceChange): Lane {
  const { metadata } = change.object;
  if (change.type === 'deleted' || metadata.deletionTimestamp !== undefined) return 'normal';
  if (change.type === 'added' || change.old.metadata.uid !== metadata.uid) return 'new';
  const { conditions = [], ...status } = change.old.status;
  const reconciling = conditions.find(({ type }) => type === CONDITIONS.reconciling);
  const isFirstTime = reconciling !== undefined && FIRST_TIME.has(reconciling.reason);
  if (conditions.length > 0 && !isFirstTime) return 'edit';
  return 'id' in status ? 'normal' : 'new';
}
