import type { KubePort, KubeRequest } from '../../../src/kube/index.ts';
import type { PortRequest } from '../../../src/service/index.ts';
import { BOXES, instance, Shop } from '../../scenarios/shop.ts';
import { CONNECTION } from '../../support/world.ts';

/** How the service and the connection of the counted world are. */
export interface CountOptions {
  /** Instances that are made at once. */
  instances: number;
  /** Milliseconds that each call takes, half of it before its effect. */
  latencyMs: number;
  /** Milliseconds that a deploy takes. */
  deployMs: number;
  /** `spec.pace` of the connection. */
  pace?: string;
}

/** What one part of the run has taken, by what it was: `POST /services/instances`, `PATCH instances/status`. */
export interface Counted {
  calls: Map<string, number>;
  writes: Map<string, number>;
  /** Events that the operator has told. */
  events: number;
}

export interface Counts {
  /** From apply to 15 minutes after Ready. */
  creation: Counted;
  /** From the first apply to the last Ready, seconds of the virtual clock. */
  readySeconds: number;
  /** How long after the end of its deploy an instance was Ready, seconds: half of them, and the last. */
  endToReadySeconds: { p50: number; max: number };
  /** Hours of standing still, from a quarter of an hour after Ready. */
  idle: Counted;
  /** A new process until a minute after its start. */
  restart: Counted;
  /** From delete to gone. */
  deletion: Counted;
}

/** Time in which something may be written some time after Ready. */
const SETTLED_MS = 15 * 60_000;
const IDLE_HOURS = 2;
const IDLE_MS = IDLE_HOURS * 3_600_000;

/**
 * Counts what creations, standing still, a restart and deletions take in calls to the service and writes to the API
 * server: in process on the virtual clock, so that the numbers are the same however busy the machine is.
 */
export async function count(options: CountOptions): Promise<Counts> {
  const { instances, latencyMs, deployMs } = options;
  let current = nothing();
  const shop = new Shop({
    sandbox: { durations: { deploy: deployMs, terminate: 2_000 } },
    kubePort: (port) => counting(port, (request) => noteWrite(current, request)),
  });
  const { world } = shop;
  shop.judge = async (request) => {
    add(current.calls, `${request.method} ${pathOf(request)}`);
    await world.clock.sleep(latencyMs / 2);
    return undefined;
  };
  shop.after = () => world.clock.sleep(latencyMs / 2);
  const part = async (work: () => Promise<void>): Promise<Counted> => {
    const events = world.events.length;
    current = nothing();
    await work();
    current.events = world.events.length - events;
    return current;
  };
  try {
    const connection =
      options.pace === undefined ? CONNECTION : `${CONNECTION.trimEnd()}\n  pace: ${options.pace}\n`;
    world.start();
    await world.apply(connection);
    await world.apply(BOXES);
    await world.until(
      () => world.ready('Box', 'web') === 'True' && world.ready('PolicyBox', 'small') === 'True',
    );
    const names = Array.from({ length: instances }, (_, i) => `made-${i}`);
    const readyAt = new Map<string, number>();
    let readySeconds = 0;
    const creation = await part(async () => {
      const start = world.clock.monotonic();
      await world.apply(names.map((name) => instance('', name)).join('\n---\n'));
      await world.until(() => {
        for (const name of names) {
          if (!readyAt.has(name) && world.ready('Instance', name) === 'True')
            readyAt.set(name, world.clock.now());
        }
        return readyAt.size === names.length;
      }, 24 * 3_600_000);
      readySeconds = (world.clock.monotonic() - start) / 1_000;
      await world.advance(SETTLED_MS);
    });
    const late = shop
      .records()
      .map((record) => (readyAt.get(nameOf(record)) ?? Number.NaN) - endOf(record))
      .toSorted((a, b) => a - b)
      .map((ms) => ms / 1_000);
    const idle = await part(() => world.advance(IDLE_MS));
    const restart = await part(async () => {
      await world.stop();
      world.start();
      await world.advance(60_000);
    });
    const deletion = await part(async () => {
      for (const name of names) await world.delete('Instance', name);
      await world.until(() => world.list('Instance').length === 0, 24 * 3_600_000);
    });
    return {
      creation,
      readySeconds,
      endToReadySeconds: {
        p50: late[Math.floor(late.length / 2)] ?? Number.NaN,
        max: late.at(-1) ?? Number.NaN,
      },
      idle,
      restart,
      deletion,
    };
  } finally {
    await shop.close();
  }
}

/** The counts as a table for people: of each part what one instance takes, and of what it consists. */
export function tableOfCounts(counts: Counts, { instances }: CountOptions): string {
  const per = (map: ReadonlyMap<string, number>): string => (total(map) / instances).toFixed(2).padStart(7);
  const parts = (map: ReadonlyMap<string, number>): string[] =>
    [...map]
      .toSorted(([, a], [, b]) => b - a)
      .map(([what, n]) => `    ${(n / instances).toFixed(3).padStart(8)}  ${what}`);
  const section = (title: string, { calls, writes, events }: Counted): string =>
    [
      title,
      `  ${per(calls)} calls to the service each`,
      ...parts(calls),
      `  ${per(writes)} writes to the API server each`,
      ...parts(writes),
      `  ${(events / instances).toFixed(2).padStart(7)} Events each`,
    ].join('\n');
  const { p50, max } = counts.endToReadySeconds;
  return [
    section('creation, until 15 minutes after Ready', counts.creation),
    `  first apply to last Ready ${counts.readySeconds.toFixed(1)} s of the virtual clock, end of deploy to Ready p50 ` +
      `${p50.toFixed(2)} s, last ${max.toFixed(2)} s`,
    section(
      `${IDLE_HOURS} hours of standing still (${((total(counts.idle.calls) * 1_000) / IDLE_MS).toFixed(3)} calls a second in all)`,
      counts.idle,
    ),
    section(`a restart (${total(counts.restart.calls)} calls in all)`, counts.restart),
    section('deletion', counts.deletion),
  ].join('\n');
}

function nothing(): Counted {
  return { calls: new Map(), writes: new Map(), events: 0 };
}

function total(map: ReadonlyMap<string, number>): number {
  return [...map.values()].reduce((sum, n) => sum + n, 0);
}

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function counting(port: KubePort, note: (request: KubeRequest) => void): KubePort {
  return {
    request: (request) => {
      note(request);
      return port.request(request);
    },
    watch: (request) => port.watch(request),
  };
}

function noteWrite({ writes }: Counted, { method, path }: KubeRequest): void {
  if (method === 'GET' || path.includes('/leases/')) return;
  const [, plural = path, status = ''] =
    /\/namespaces\/[^/]+\/([^/]+)(?:\/[^/]+)?(\/status)?$/.exec(path) ?? [];
  add(writes, `${method} ${plural}${status}`);
}

/** The path of a call without ids. */
function pathOf({ path }: PortRequest): string {
  return path
    .replace(/\?.*$/, '')
    .replace(/\/services\/(instances|boxes|workspaces|providers|blobs)\/[^/]+/, '/services/$1/{id}');
}

function nameOf(record: object): string {
  return (record as { name?: string }).name ?? '';
}

/** When the record was changed last, by the service's clock: the end of its deploy. */
function endOf({ updated }: { updated: string }): number {
  return Date.parse(`${updated.replace(' ', 'T')}Z`);
}
