import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ANNOTATIONS, LEADER_ANNOTATIONS, LEADER_LABEL } from '../../api/names.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { MemoryBudget } from '../../base/memory-budget.ts';
import { Places } from '../../base/places.ts';
import type { Tracer } from '../../base/tracer.ts';
import { noTurns, type Turns } from '../../base/turns.ts';
import type { PortFactory } from '../../controllers/connection/index.ts';
import { CacheRoom } from '../../controllers/cache-room.ts';
import { INSTALLATION_CONFIG_MAP } from '../../controllers/installation.ts';
import { KeptRecords } from '../../controllers/kept-records.ts';
import { Operator } from '../../controllers/operator.ts';
import type { SecretSelector } from '../../controllers/secret-policy.ts';
import {
  CONFIG_MAPS,
  Elector,
  EventRecorder,
  KubeApiError,
  KubeClient,
  Manager,
  type Endpoint,
  type KubePort,
  type ManagerOptions,
  type Metrics,
  type Recorder,
  type ReflectorNotice,
} from '../../kube/index.ts';
import { createUndiciPort, type UndiciPortOptions } from '../../service/index.ts';
import { version } from '../version.ts';
import { showMemory } from './memory-metrics.ts';
import { ServiceMetrics } from './service-metrics.ts';

/** What an operator is told, whatever it reaches the API server and the service with. */
export interface WiringSettings {
  /** The operator's own namespace. */
  namespace: string;
  /** Look after these only; absent: all. */
  namespaces?: readonly string[];
  installationId?: string;
  restore?: boolean;
  /** Follow the metadata of Secrets, which needs list and watch on them. @default false */
  watchSecrets?: boolean;
  /** Labels that a Secret has to carry for anything of it to be read. @default none */
  secretSelector?: SecretSelector;
  /** Keep credentials of what is being deleted in a Secret, encrypted. @default false */
  keepCredentials?: boolean;
  /** Which endpoints a Connection may name, and how long a call to them may take. */
  endpoints: Omit<UndiciPortOptions, 'endpoint' | 'ca' | 'connections' | 'clock' | 'turns' | 'lookups'>;
  /** Absent: works without asking whether another does. */
  leader?: { name: string; leaseDurationMs?: number; renewDeadlineMs?: number; retryPeriodMs?: number };
  /** Where to serve health and metrics; absent: nowhere. */
  health?: NonNullable<ManagerOptions['health']>;
  workers?: number;
}

/** What an operator is made of. Tests put their own parts in; the wiring between them is the same. */
export interface OperatorParts {
  clock: Clock;
  random: Random;
  log: Logger;
  metrics: Metrics;
  /** The way to the API server. */
  kubePort: KubePort;
  /** The way of the leader election. @default the same */
  leaderPort?: KubePort;
  /** When what holds the event loop may be done. @default at once */
  turns?: Turns;
  /** Makes the way to a service. @default over HTTP by undici, to the endpoints that the settings allow */
  portFor?: PortFactory;
  /** Takes what happened. @default writes Events */
  recorder?: Recorder;
  /** Hears of passes and calls. @default nobody does */
  tracer?: Tracer;
  /** What is served besides health. */
  endpoints?: readonly Endpoint[];
}

/**
 * Shares of the heap's limit: for what comes from outside and is in hand, for resources that are large, for the others,
 * for the records that are remembered. The program, and what is parsed at one moment, have the rest. No namespace fills
 * any of them.
 */
const SHARES = { budget: 1 / 4, largeResources: 1 / 5, smallResources: 3 / 8, records: 1 / 8 };

/** Of the four threads that look names up, and read files: one stays for files. */
const LOOKUPS = { places: 3, each: 2 };

/** Puts one operator together; the Manager that comes back runs it. */
export function wireOperator(settings: WiringSettings, parts: OperatorParts): Manager {
  const {
    namespace,
    namespaces,
    installationId,
    restore,
    watchSecrets,
    secretSelector,
    keepCredentials,
    endpoints,
    leader,
    health,
    workers,
  } = settings;
  const { clock, random, log, metrics, kubePort } = parts;
  const { turns = noTurns } = parts;
  const heap = getHeapStatistics().heap_size_limit;
  const memory = new MemoryBudget({ capacity: heap * SHARES.budget, clock });
  showMemory(metrics, memory);
  const lookups = new Places(LOOKUPS);
  const serviceMetrics = new ServiceMetrics(metrics);
  const recorder =
    parts.recorder ??
    new EventRecorder({
      port: kubePort,
      clock,
      random,
      reportingController: 'boxwright.dev/operator',
      reportingInstance: hostname(),
      metrics,
      logger: log,
    });
  const elector =
    leader === undefined
      ? undefined
      : new Elector({
          port: parts.leaderPort ?? kubePort,
          clock,
          random,
          namespace,
          identity: `${hostname()}_${randomUUID()}`,
          metrics,
          logger: log,
          startsAnnotation: ANNOTATIONS.starts,
          marks: {
            labels: { [LEADER_LABEL]: 'true' },
            annotations: {
              [LEADER_ANNOTATIONS.namespaces]: namespaces?.join(',') ?? '*',
              [LEADER_ANNOTATIONS.version]: version,
            },
          },
          // Whoever led last made it: without one this is the first start.
          ledBefore: async (signal) => {
            const kube = new KubeClient(parts.leaderPort ?? kubePort, { clock, random, maxTries: 1 });
            const ref = { namespace, name: INSTALLATION_CONFIG_MAP };
            return (await kube.get(CONFIG_MAPS, ref, { signal })) !== undefined;
          },
          ...leader,
        });
  const operator = new Operator({
    kube: new KubeClient(kubePort, { clock, random }),
    clock,
    random,
    log,
    recorder,
    memory,
    room: new CacheRoom({ large: heap * SHARES.largeResources, small: heap * SHARES.smallResources }),
    kept: new KeptRecords(heap * SHARES.records),
    turns,
    metrics,
    ...(parts.tracer === undefined ? {} : { tracer: parts.tracer }),
    namespace,
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(installationId === undefined ? {} : { installationId }),
    ...(restore === undefined ? {} : { restore }),
    ...(watchSecrets === undefined ? {} : { watchSecrets }),
    ...(secretSelector === undefined ? {} : { secretSelector }),
    ...(keepCredentials === undefined ? {} : { keepCredentials }),
    ...(elector === undefined ? {} : { starts: () => elector.starts }),
    portFor:
      parts.portFor ??
      (({ owner, ...target }) =>
        createUndiciPort({ ...target, ...endpoints, clock, lookups: { places: lookups, owner } })),
    ...(workers === undefined ? {} : { workers }),
    onCall: (connection, report) => serviceMetrics.count(connection, report),
    onConnectionGone: (connection) => serviceMetrics.forget(connection),
    onNotice: (notice) => logNotice(log, notice),
  });
  return new Manager({
    clock,
    metrics,
    logger: log,
    sources: operator.sources,
    runners: [operator],
    endpoints: parts.endpoints ?? [],
    ...(recorder instanceof EventRecorder ? { recorder } : {}),
    ...(elector === undefined ? {} : { elector }),
    ...(health === undefined ? {} : { health: { ...health, notes: { ...operator.notes, ...health.notes } } }),
  });
}

/** What an administrator can do about it. */
function adviceOn(error: Error): string {
  if (!(error instanceof KubeApiError)) return '';
  if (error.status === 404) return ': are the kinds of Boxwright installed, in this version?';
  if (error.status !== 403) return '';
  return ': does each namespace of --namespaces exist, and has the operator its Role there?';
}

function logNotice(log: Logger, notice: ReflectorNotice): void {
  switch (notice.kind) {
    case 'error': {
      const { error, ...rest } = notice;
      // An answer says all there is to say; where it came in, which a stack tells, is of no use.
      const why = error instanceof KubeApiError ? { why: error.message } : { error };
      log.warn({ ...rest, ...why }, `following a kind failed, it is tried again${adviceOn(error)}`);
      return;
    }
    case 'listed':
      log.debug({ ...notice }, 'listed');
      return;
    case 'watch-ended':
      log.debug({ ...notice }, 'a watch ended');
      return;
    default:
      notice satisfies never;
  }
}
