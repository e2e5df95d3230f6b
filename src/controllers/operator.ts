import type { Box } from '../api/box.ts';
import type { Connection } from '../api/connection.ts';
import type { Instance } from '../api/instance.ts';
import type { InstanceLease } from '../api/instance-lease.ts';
import { kindOf, referencesOf, type AnyResource, type KindName } from '../api/kinds.ts';
import { CONDITIONS } from '../api/reasons.ts';
import type { PolicyBox } from '../api/policy-box.ts';
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
  type Change,
  type HealthCheck,
  type KubeClient,
  type KubeObject,
  type Metrics,
  type Reconcile,
  type Recorder,
  type ResourceType,
  type ReflectorNotice,
  type Runner,
  type Source,
  type StoredObject,
} from '../kube/index.ts';
import type { CallReport } from '../service/index.ts';
import { boxKind, containsBox, nestedIn } from './box/index.ts';
import type { CacheRoom } from './cache-room.ts';
import { KindCache } from './cache.ts';
import type { KeptRecords } from './kept-records.ts';
import {
  KEPT_SECRET,
  ConnectionPool,
  ConnectionReconciler,
  KeptCredentials,
  type PortFactory,
} from './connection/index.ts';
import type { OperatorContext } from './context.ts';
import { loadIdentity } from './installation.ts';
import { DIGEST_SECRET } from './keys.ts';
import { eventTarget } from './event-target.ts';
import { instanceKind, NESTED_LIMIT } from './instance/index.ts';
import { InstanceLeaseReconciler } from './instancelease/index.ts';
import { DomainMetrics } from './metrics/index.ts';
import { policyBoxKind } from './policybox/index.ts';
import { isClaimedElsewhere } from './record/identity/claim.ts';
import { RecordReconciler } from './record/reconciler.ts';
import { sameMeaning } from './record/resource.ts';
import { SealTurns } from './record/seal-turns.ts';
import type { SecretSelector } from './secret-policy.ts';
import { SecretWatch } from './secret-watch.ts';
import { KubeSources, type Sources } from './sources.ts';

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

/** All controllers of Boxwright over one cluster: the caches to follow, and what runs while leading. */
export class Operator implements Runner {
  readonly name = 'boxwright';
  readonly sources: readonly Source[];
  /** What works less well than it was told to, by name; in words for a person. */
  readonly notes: Readonly<Record<string, HealthCheck>>;
  readonly #options: OperatorOptions;
  readonly #connections: KindCache<Connection>;
  readonly #boxes: KindCache<Box>;
  readonly #policyBoxes: KindCache<PolicyBox>;
  readonly #instances: KindCache<Instance>;
  readonly #leases: KindCache<InstanceLease>;
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
    this.#connections = new KindCache<Connection>('Connection', shared);
    this.#boxes = new KindCache<Box>('Box', shared);
    this.#policyBoxes = new KindCache<PolicyBox>('PolicyBox', shared);
    this.#instances = new KindCache<Instance>('Instance', shared);
    this.#leases = new KindCache<InstanceLease>('InstanceLease', shared);
    this.#configMaps = new Informer<StoredObject>({
      ...shared,
      type: CONFIG_MAPS,
      metadataOnly: true,
      prune: nameAndVersion,
    });
    this.#secretWatch =
      options.watchSecrets === true ? new SecretWatch({ ...shared, log: options.log }) : undefined;
    this.sources = [
      ...this.#caches().map((cache) => cache.informer),
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
    const pool: ConnectionPool = new ConnectionPool({
      context,
      portFor: this.#options.portFor,
      exists: (key) => this.#connections.get(key) !== undefined,
      onCall: (key, report) => {
        this.#options.onCall?.(key, report);
        this.#traceCall(key, report);
        if (report.outcome === 'CredentialsRejected') this.#rejected(key, connectionReconciler, controllers);
      },
      onGone: (key) => this.#options.onConnectionGone?.(key),
      onTrouble: (key) => controllers.get('Connection')?.queue.add(key, 'normal'),
    });
    const full: OperatorContext = { ...context, connections: pool };
    const connectionReconciler = new ConnectionReconciler({
      context,
      pool,
      cache: this.#connections,
      users: (connection) => this.#usersOfConnection(connection),
      kept: this.#kept(context),
    });
    const controllers = this.#controllers(full, connectionReconciler);
    const unwatch = this.#watch(controllers, pool, context.sources);
    const { id: installationId } = context.installation;
    const watched = { caches: this.#caches(), clients: () => pool.standings(), installationId };
    this.#tellOfForeigners(installationId);
    if (this.#metrics !== undefined) unwatch.push(this.#metrics.watch(watched));
    try {
      const outcomes = await Promise.allSettled(
        [...controllers.values()].map((controller) => controller.run(stop, abort)),
      );
      const bad = outcomes.find((outcome) => outcome.status === 'rejected');
      if (bad !== undefined) throw bad.reason;
    } finally {
      for (const end of unwatch) end();
      pool.closeAll();
    }
  }

  #kept({ clock, digest, kube, log }: Omit<OperatorContext, 'connections'>): KeptCredentials | undefined {
    const { keepCredentials, namespace } = this.#options;
    if (keepCredentials !== true) return undefined;
    const isLiving = (uid: string): boolean => this.#connections.isLiving(uid);
    return new KeptCredentials({
      kube,
      namespace,
      key: digest.keyFor('kept credentials'),
      clock,
      log,
      isLiving,
    });
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
          own: new Set([DIGEST_SECRET, KEPT_SECRET].map((name) => `${namespace}/${name}`)),
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

  #controllers(context: OperatorContext, connections: ConnectionReconciler): Map<KindName, Controller> {
    // Boxes and policy boxes share a list.
    const heldBoxes = (owner: string, endpoint: string): number =>
      this.#boxes.holders(endpoint, owner).length + this.#policyBoxes.holders(endpoint, owner).length;
    const boxes = new RecordReconciler({
      context,
      held: heldBoxes,
      kind: boxKind({
        context,
        type: typeOf('Box'),
        boxes: this.#boxes,
        users: (box) => this.#usersOfBox('Box', box),
      }),
      cache: this.#boxes,
      memory: (base) => ({ ...base, uploads: new Map(), refusedFiles: undefined }),
    });
    const policyBoxes = new RecordReconciler({
      context,
      held: heldBoxes,
      kind: policyBoxKind({
        context,
        type: typeOf('PolicyBox'),
        users: (box) => this.#usersOfBox('PolicyBox', box),
      }),
      cache: this.#policyBoxes,
      memory: (base) => ({ ...base, uploads: new Map(), refusedFiles: undefined, provider: undefined }),
    });
    const instances = new RecordReconciler({
      context,
      held: (owner, endpoint) => this.#instances.holders(endpoint, owner).length,
      kind: instanceKind({
        context,
        type: typeOf('Instance'),
        references: { boxes: this.#boxes, policyBoxes: this.#policyBoxes, leases: this.#leases },
      }),
      cache: this.#instances,
      memory: (base) => ({
        ...base,
        uploads: new Map(),
        deployedHash: undefined,
        policySecretsKnown: false,
        operation: undefined,
        put: undefined,
        terminateNoted: undefined,
        leasePut: undefined,
        powerOnSince: undefined,
        addresses: undefined,
        running: undefined,
      }),
    });
    const leases = new InstanceLeaseReconciler({ context, leases: this.#leases, instances: this.#instances });
    const controller = (kind: KindName, reconcile: Reconcile): [KindName, Controller] => [
      kind,
      this.#controller(kind, reconcile),
    ];
    return new Map([
      controller('Connection', (key, run) => connections.reconcile(key, run)),
      controller('Box', (key, run) => boxes.reconcile(key, run)),
      controller('PolicyBox', (key, run) => policyBoxes.reconcile(key, run)),
      controller('Instance', (key, run) => instances.reconcile(key, run)),
      controller('InstanceLease', (key, run) => leases.reconcile(key, run)),
    ]);
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

  /** Changes become keys in queues; nothing else happens here. */
  #watch(controllers: Map<KindName, Controller>, pool: ConnectionPool, sources: Sources): (() => void)[] {
    const add = (kind: KindName, key: string, lane: Lane, byPerson = false): void =>
      controllers.get(kind)?.queue.add(key, lane, byPerson);
    const referrers = (kind: string, namespace: string, name: string, byPerson = false): void => {
      for (const cache of this.#caches()) {
        for (const { metadata } of cache.referrers(kind, namespace, name)) {
          add(cache.kind, `${metadata.namespace}/${metadata.name}`, 'normal', byPerson);
        }
      }
    };
    pool.onChange((key) => {
      const [namespace = '', name = ''] = key.split('/');
      referrers('Connection', namespace, name);
    });
    // What is there when this begins was handled before, by whoever led: a periodic look will do.
    let starting = true;
    const ends = this.#caches().map((cache) =>
      cache.onChange((change) => {
        const { kind } = cache;
        const { namespace, name } = change.object.metadata;
        const lane = starting ? 'periodic' : laneOf(change);
        const echo = cache.isOwnWrite && change.type !== 'deleted';
        if (!echo && concerns(change)) add(kind, `${namespace}/${name}`, lane, !starting);
        if (starting) return;
        if (matters(kind, change)) {
          referrers(kind, namespace, name);
          if (kind === 'Box')
            for (const user of this.#instancesAbove(namespace, name)) add('Instance', user, 'normal');
        }
        if (change.type === 'deleted' || kind === 'InstanceLease' || kind === 'Instance') {
          // What it referred to may go now; a lease's instance and an instance's leases hear of each other.
          const before = change.type === 'updated' ? referencesOf(change.old) : [];
          for (const reference of [...referencesOf(change.object), ...before]) {
            if (
              isOurs(reference.kind) &&
              (change.type === 'deleted' || reference.kind.startsWith('Instance'))
            ) {
              add(reference.kind, `${namespace}/${reference.name}`, 'normal');
            }
          }
        }
      }),
    );
    const configMaps = this.#configMaps.onChange(({ object }) => {
      if (!starting) referrers('ConfigMap', object.metadata.namespace ?? '', object.metadata.name, true);
    });
    const secrets = this.#secretWatch?.onChange((namespace, name) => {
      if (starting) return;
      sources.forgetSecret(namespace, name);
      referrers('Secret', namespace, name, true);
    });
    starting = false;
    return [...ends, configMaps, ...(secrets === undefined ? [] : [secrets])];
  }

  #rejected(key: string, reconciler: ConnectionReconciler, controllers: Map<KindName, Controller>): void {
    reconciler.lookAnew(key);
    controllers.get('Connection')?.queue.add(key, 'normal', true);
  }

  #usersOfConnection(connection: Connection): string[] {
    const { namespace, name } = connection.metadata;
    return [this.#boxes, this.#policyBoxes, this.#instances]
      .flatMap((cache) =>
        cache.referrers('Connection', namespace, name).map((user) => `${cache.kind}/${user.metadata.name}`),
      )
      .toSorted();
  }

  #usersOfBox(kind: 'Box' | 'PolicyBox', box: Box | PolicyBox): { names: string[]; others: boolean } {
    const { namespace, name } = box.metadata;
    const { id } = box.status;
    const users: (Box | Instance)[] = [
      ...this.#boxes.referrers(kind, namespace, name),
      ...this.#instances.referrers(kind, namespace, name),
      ...(id === undefined ? [] : this.#usersById(kind, id)),
    ].filter((user) => user.metadata.uid !== box.metadata.uid && !this.#goesWith(user, box));
    const named = users
      .filter((user) => user.metadata.namespace === namespace)
      .map((user) => `${user.kind}/${user.metadata.name}`);
    const others = users.some((user) => user.metadata.namespace !== namespace);
    return { names: [...new Set(named)].toSorted(), others };
  }

  /** Keys of the Instances of boxes that contain a box, at any depth as far as Instances follow it. */
  #instancesAbove(namespace: string, name: string): Set<string> {
    const seen = new Set([name]);
    const keys = new Set<string>();
    for (const below of seen) {
      for (const { metadata } of this.#boxes.referrers('Box', namespace, below)) {
        if (seen.size > NESTED_LIMIT * 4) return keys;
        if (seen.has(metadata.name)) continue;
        seen.add(metadata.name);
        for (const user of this.#instances.referrers('Box', namespace, metadata.name)) {
          keys.add(`${namespace}/${user.metadata.name}`);
        }
      }
    }
    return keys;
  }

  /** Boxes that contain each other and are all deleted would wait for each other for ever. */
  #goesWith(user: Box | Instance, box: Box | PolicyBox): boolean {
    if (user.kind !== 'Box' || box.kind !== 'Box') return false;
    if (user.metadata.deletionTimestamp === undefined) return false;
    return containsBox(box, user.metadata.name, nestedIn(box, this.#boxes));
  }

  /** Resources of any namespace that name a record by its id. */
  #usersById(kind: 'Box' | 'PolicyBox', id: string): (Box | Instance)[] {
    const instances = this.#instances
      .namers(id)
      .filter(({ spec }) => (kind === 'Box' ? spec.boxId : spec.policyBoxId) === id);
    return kind === 'PolicyBox' ? instances : [...this.#boxes.namers(id), ...instances];
  }

  /** Another installation over the same namespaces is a mistake that shows in nothing that either of them does. */
  #tellOfForeigners(installationId: string): void {
    const claimed = this.#caches().flatMap((cache) =>
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
    return this.#caches().some((cache) => cache.list().some(({ status }) => 'id' in status));
  }

  #caches(): KindCache<AnyResource>[] {
    // Each cache holds one kind; seen as a cache of any, only the envelope is used here.
    return [
      this.#connections,
      this.#boxes,
      this.#policyBoxes,
      this.#instances,
      this.#leases,
    ] as unknown as KindCache<AnyResource>[];
  }
}

/** Annotations may be of 256 KiB, as what `kubectl apply` keeps of a ConfigMap's content is. */
function nameAndVersion({ apiVersion, kind, metadata }: StoredObject): StoredObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } } as StoredObject;
}

/** Whether a change is one that its own controller acts upon: not the echo of a status write. */
function concerns(change: Change<AnyResource & KubeObject>): boolean {
  return change.type !== 'updated' || !sameMeaning(change.old.metadata, change.object.metadata);
}

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
function laneOf(change: Change<AnyResource & KubeObject>): Lane {
  const { metadata } = change.object;
  if (change.type === 'deleted' || metadata.deletionTimestamp !== undefined) return 'normal';
  if (change.type === 'added' || change.old.metadata.uid !== metadata.uid) return 'new';
  const { conditions = [], ...status } = change.old.status;
  const reconciling = conditions.find(({ type }) => type === CONDITIONS.reconciling);
  const isFirstTime = reconciling !== undefined && FIRST_TIME.has(reconciling.reason);
  if (conditions.length > 0 && !isFirstTime) return 'edit';
  return 'id' in status ? 'normal' : 'new';
}

/** Whether a change is one that those who refer to the resource wait for. */
function matters(kind: KindName, change: Change<AnyResource & KubeObject>): boolean {
  // The pool tells of connections.
  if (kind === 'Connection') return false;
  if (change.type !== 'updated') return true;
  const [a, b] = [change.old, change.object];
  if (a.metadata.deletionTimestamp !== b.metadata.deletionTimestamp) return true;
  if (kind === 'InstanceLease') return a.metadata.generation !== b.metadata.generation || concerns(change);
  if (kind === 'Instance') return JSON.stringify(leaseOf(a)) !== JSON.stringify(leaseOf(b));
  return inPlace(a) !== inPlace(b);
}

function inPlace(resource: AnyResource): string {
  const status = resource.status as { id?: string; draftHash?: string };
  return `${status.id ?? ''}/${status.draftHash ?? ''}`;
}

function leaseOf(resource: AnyResource): unknown {
  return 'lease' in resource.status ? [resource.status.lease, resource.metadata.generation] : undefined;
}

function isOurs(kind: string): kind is KindName {
  return kind !== 'Secret' && kind !== 'ConfigMap';
}

function typeOf(kind: KindName): ResourceType {
  const { group, version, plural } = kindOf(kind);
  return { group, version, plural, kind, namespaced: true };
}
