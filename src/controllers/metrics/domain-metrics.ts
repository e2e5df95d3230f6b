import type { Connection } from '../../api/connection.ts';
import type { Instance } from '../../api/instance.ts';
import { hasRecord, type AnyResource, type KindName } from '../../api/kinds.ts';
import type { Clock } from '../../base/clock.ts';
import type { MetricDefinition, Metrics } from '../../kube/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import type { ControllerObserver } from '../context.ts';
import { isClaimedElsewhere } from '../record/identity/claim.ts';
import {
  armedLease,
  credentialsFailingSince,
  deletingSince,
  isDrifted,
  LEASE_ENDS,
  notReadySince,
  OPERATIONS,
  runningOperation,
  standingOf,
} from './census.ts';
import { OUTCOMES, tellingsOf, type Telling } from './changes.ts';
import { ConnectionLabels } from './connection-label.ts';
import { DOMAIN_METRICS as TABLE } from './definitions.ts';

/** How a connection's client stands: what `ConnectionPool.standings` answers. */
export interface ClientStanding {
  /** `namespace/name` of the Connection. */
  key: string;
  breaker: 'closed' | 'open' | 'halfOpen';
  waiting: number;
  inFlight: number;
  pausedMs: number;
}

/** What the gauges are worked out from. */
export interface Watched {
  caches: readonly KindCache<AnyResource>[];
  clients: () => readonly ClientStanding[];
  installationId: string;
}

const BREAKER_STATES = ['closed', 'open', 'halfOpen'] as const;

/**
 * Counts what happens to resources and connections, in the registry of one operator. It hears of changes from
 * the caches, and of the little that shows in no cache from the controllers.
 */
export class DomainMetrics {
  readonly observer: ControllerObserver;
  readonly #clock: Clock;
  readonly #tell: (kind: string, telling: Telling) => void;
  readonly #wrote: (kind: string) => void;
  readonly #deleted: (kind: string, ms: number) => void;
  /** Absent while this process does not lead. */
  #watched: Watched | undefined;

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock;
    this.#census(metrics);
    this.#clients(metrics);

    const steps = metrics.counter(TABLE.steps);
    const drift = metrics.counter(TABLE.drift);
    const operations = metrics.counter(TABLE.operations);
    const durations = metrics.histogram(TABLE.operationDuration);
    const notReady = metrics.histogram(TABLE.notReadyDuration);
    const deletions = metrics.histogram(TABLE.deletionDuration);
    const writes = metrics.counter(TABLE.statusWrites);
    const leaseEnds = metrics.counter(TABLE.leaseEnds);
    // Present before they happen, so that the first one shows in a rate.
    for (const operation of OPERATIONS) {
      for (const outcome of OUTCOMES) operations.inc({ operation, outcome }, 0);
    }
    this.observer = {
      step: (kind, step) => steps.inc({ kind, step }),
      corrected: (kind) => drift.inc({ kind, action: 'Corrected' }),
    };
    this.#wrote = (kind) => writes.inc({ kind });
    this.#deleted = (kind, ms) => deletions.observe({ kind }, ms / 1_000);
    this.#tell = (kind, telling) => {
      switch (telling.tells) {
        case 'ready':
          notReady.observe({ kind }, telling.afterMs / 1_000);
          return;
        case 'drifted':
          drift.inc({ kind, action: 'Reported' });
          return;
        case 'leaseEnd':
          leaseEnds.inc({ operation: telling.operation, by: telling.by });
          return;
        case 'operation': {
          const { operation, outcome, ms } = telling;
          operations.inc({ operation, outcome });
          if (ms !== undefined) durations.observe({ operation, outcome }, ms / 1_000);
          return;
        }
        default:
          telling satisfies never;
      }
    };
  }

  /** Follows the caches; call it when leading begins, and what it returns when that ends. */
  watch(watched: Watched): () => void {
    this.#watched = watched;
    const ends = watched.caches.map((cache) =>
      cache.onChange((change) => {
        const { object } = change;
        if (change.type === 'deleted') {
          const since = deletingSince(object);
          if (since !== undefined) this.#deleted(cache.kind, Math.max(0, this.#clock.now() - since));
          return;
        }
        if (change.type !== 'updated' || change.old.metadata.uid !== object.metadata.uid) return;
        if (JSON.stringify(change.old.status) === JSON.stringify(object.status)) return;
        this.#wrote(cache.kind);
        for (const telling of tellingsOf(change.old, object, this.#clock.now())) {
          this.#tell(cache.kind, telling);
        }
      }),
    );
    return () => {
      this.#watched = undefined;
      for (const end of ends) end();
    };
  }

  /** Gauges that count what is in the caches. */
  #census(metrics: Metrics): void {
    const add = <L extends string>(
      definition: MetricDefinition & { labels: readonly L[] },
      fill: (sums: Sums<L>) => void,
    ): void => {
      metrics.gauge(definition, (gauge) => {
        gauge.reset();
        const sums = new Sums<L>();
        fill(sums);
        for (const { labels, value } of sums.all()) gauge.set(labels, value);
      });
    };
    add(TABLE.resources, (sums) =>
      this.#each((kind, resource) => sums.add({ kind, ...standingOf(resource) })),
    );
    add(TABLE.notReadyOldest, (sums) =>
      this.#each((kind, resource) => sums.least({ kind }, notReadySince(resource))),
    );
    add(TABLE.deleting, (sums) => {
      for (const { kind } of this.#watched?.caches ?? []) sums.add({ kind }, 0);
      this.#each((kind, resource) => {
        if (deletingSince(resource) !== undefined) sums.add({ kind });
      });
    });
    add(TABLE.foreignClaims, (sums) => {
      const installationId = this.#watched?.installationId ?? '';
      this.#each((kind, resource) => {
        if (isClaimedElsewhere(resource, installationId)) sums.add({ kind });
      });
    });
    add(TABLE.deletionOldest, (sums) =>
      this.#each((kind, resource) => sums.least({ kind }, deletingSince(resource))),
    );
    add(TABLE.drifted, (sums) =>
      this.#each((kind, resource) => {
        if (resource.problems === undefined && hasRecord(kind))
          sums.add({ kind }, isDrifted(resource) ? 1 : 0);
      }),
    );
    add(TABLE.operationsRunning, (sums) => {
      if (this.#watched !== undefined) for (const operation of OPERATIONS) sums.add({ operation }, 0);
      for (const instance of this.#sound('Instance')) {
        const operation = runningOperation(instance);
        if (operation !== undefined) sums.add({ operation });
      }
    });
    const leases = (each: (lease: NonNullable<ReturnType<typeof armedLease>>) => void): void => {
      for (const instance of this.#sound('Instance')) {
        const lease = armedLease(instance);
        if (lease !== undefined) each(lease);
      }
    };
    const zero = (sums: Sums<'operation'>): void => {
      if (this.#watched !== undefined) for (const operation of LEASE_ENDS) sums.add({ operation }, 0);
    };
    add(TABLE.leases, (sums) => {
      zero(sums);
      leases(({ operation }) => sums.add({ operation }));
    });
    add(TABLE.leasesExpiring, (sums) => {
      zero(sums);
      leases(({ operation, expiring }) => sums.add({ operation }, expiring ? 1 : 0));
    });
    add(TABLE.leaseNextExpiry, (sums) =>
      leases(({ operation, expire }) => sums.least({ operation }, expire)),
    );
    add(TABLE.credentialsFailing, (sums) => {
      const labels = new ConnectionLabels();
      for (const connection of this.#sound('Connection')) {
        const since = credentialsFailingSince(connection);
        if (since === undefined) continue;
        const { namespace, name } = connection.metadata;
        sums.least({ connection: labels.of(`${namespace}/${name}`) }, since);
      }
    });
  }

  /** Gauges of the clients, by connection; those that share a label together, and of pauses the longest. */
  #clients(metrics: Metrics): void {
    const add = <L extends string>(
      definition: MetricDefinition & { labels: readonly L[] },
      fill: (sums: Sums<L>, connection: string, client: ClientStanding) => void,
    ): void => {
      metrics.gauge(definition, (gauge) => {
        gauge.reset();
        const [sums, labels] = [new Sums<L>(), new ConnectionLabels()];
        for (const client of this.#watched?.clients() ?? []) fill(sums, labels.of(client.key), client);
        for (const { labels: of, value } of sums.all()) gauge.set(of, value);
      });
    };
    add(TABLE.callsWaiting, (sums, connection, { waiting }) => sums.add({ connection }, waiting));
    add(TABLE.callsInFlight, (sums, connection, { inFlight }) => sums.add({ connection }, inFlight));
    add(TABLE.pause, (sums, connection, { pausedMs }) => sums.most({ connection }, pausedMs));
    add(TABLE.breaker, (sums, connection, { breaker }) => {
      for (const state of BREAKER_STATES) sums.add({ connection, state }, state === breaker ? 1 : 0);
    });
  }

  #each(visit: (kind: KindName, resource: Cached<AnyResource>) => void): void {
    for (const cache of this.#watched?.caches ?? []) {
      for (const resource of cache.list()) visit(cache.kind, resource);
    }
  }

  /** The resources of a kind that fit their schema. */
  #sound<K extends 'Instance' | 'Connection'>(kind: K): (K extends 'Instance' ? Instance : Connection)[] {
    const cache = this.#watched?.caches.find((other) => other.kind === kind);
    // A cache holds resources of its kind only.
    return (cache?.list().filter(({ problems }) => problems === undefined) ?? []) as never;
  }
}

/** Values by labels. Moments are given in milliseconds and kept in seconds, as metrics have them. */
class Sums<L extends string> {
  readonly #values = new Map<string, { labels: Record<L, string>; value: number }>();

  add(labels: Record<L, string>, count = 1): void {
    this.#entry(labels, 0).value += count;
  }

  /** Keeps the earliest moment. */
  least(labels: Record<L, string>, ms: number | undefined): void {
    if (ms === undefined) return;
    const entry = this.#entry(labels, Infinity);
    entry.value = Math.min(entry.value, ms / 1_000);
  }

  /** Keeps the longest time. */
  most(labels: Record<L, string>, ms: number): void {
    const entry = this.#entry(labels, 0);
    entry.value = Math.max(entry.value, ms / 1_000);
  }

  all(): Iterable<{ labels: Record<L, string>; value: number }> {
    return this.#values.values();
  }

  #entry(labels: Record<L, string>, initial: number): { labels: Record<L, string>; value: number } {
    const key = Object.values<string>(labels).join('\n');
    let entry = this.#values.get(key);
    if (entry === undefined) {
      entry = { labels, value: initial };
      this.#values.set(key, entry);
    }
    return entry;
  }
}
