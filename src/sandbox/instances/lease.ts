import { badRequest } from '../http.ts';
import type { BoxDoc, InstanceDoc, JobDoc, Lease } from '../model.ts';
import type { Service } from '../service.ts';
import { formatTime, parseTime } from '../time.ts';
import { terminated } from '../edge/readings.ts';
import { startOperation } from './run/operations.ts';

export interface LeaseRequest {
  operation: string;
  expire?: string | null;
  released?: boolean;
}

const HOUR = 3_600_000;
const UNITS: Readonly<Record<string, number>> = {
  hours: HOUR,
  days: 24 * HOUR,
  weeks: 7 * 24 * HOUR,
  months: 30 * 24 * HOUR,
};

const leaseJob = (instance: string): string => `lease:${instance}`;

/** The lease that a request asks for; undefined means always on. @throws Refusal 400 */
export function requestedLease(service: Service, request: LeaseRequest): Lease | undefined {
  if (request.operation === 'alwayson') return undefined;
  if (typeof request.expire !== 'string') {
    throw badRequest(`lease.expire: is required when lease.operation is ${request.operation}`);
  }
  const at = parseTime(request.expire);
  if (at === undefined) {
    throw badRequest(
      `lease.expire: "${request.expire}" is not a time of the form YYYY-MM-DD HH:MM:SS.ffffff (UTC)`,
    );
  }
  const cut = Math.floor(at / service.rules.leasePrecision) * service.rules.leasePrecision;
  return {
    operation: request.operation,
    expire: service.rules.leasePrecision === 1 ? formatTime(at) : formatTime(cut),
    released: false,
  };
}

/** The default lease of what a policy box deploys (service-behaviour.md 2.6). */
export function lifespanLease(policy: BoxDoc, now: number): Lease | undefined {
  const lifespan = policy.fields['lifespan'] as
    { operation?: string; interval?: string; quantity?: number } | undefined;
  if (lifespan?.operation === undefined || lifespan.operation === 'none') return undefined;
  const span = (UNITS[lifespan.interval ?? 'hours'] ?? HOUR) * (lifespan.quantity ?? 1);
  return { operation: lifespan.operation, expire: formatTime(now + span), released: false };
}

/** Sees to it that the lease of the instance is carried out when it expires. */
export function armLease(service: Service, instance: InstanceDoc): void {
  const { lease } = instance;
  const expire = lease?.released === false ? parseTime(lease.expire ?? '') : undefined;
  if (expire === undefined) service.engine.cancel(leaseJob(instance.id));
  else {
    service.engine.schedule({
      id: leaseJob(instance.id),
      kind: 'lease',
      due: expire,
      data: { instance: instance.id },
    });
  }
}

/** A lease whose time has come; while an operation runs it waits for its end. */
export function runLease(service: Service, job: JobDoc, at: number): void {
  const instance = service.store.instances.get(String(job.data['instance']));
  if (instance?.lease === undefined || instance.lease.released) {
    service.engine.cancel(job.id);
    return;
  }
  if (instance.state === 'processing') {
    service.store.jobs.put({ ...job, due: null });
    return;
  }
  service.engine.cancel(job.id);
  const { rules } = service;
  const released: InstanceDoc = {
    ...instance,
    lease: { ...instance.lease, released: true },
    updated: service.time.stamp(at),
  };
  const { state, operation } = instance;
  const start = { username: instance.owner, workspace: instance.owner, at };
  if (instance.lease.operation === 'terminate' && !terminated(state, operation.event)) {
    // What cannot run its dispose scripts any more is terminated without them.
    const name = rules.acceptsTerminate(state, operation.event) ? 'terminate' : 'force_terminate';
    startOperation(service, released, { ...start, operation: name });
  } else if (instance.lease.operation === 'shutdown' && rules.accepts.shutdown(state, operation.event)) {
    startOperation(service, released, { ...start, operation: 'shutdown' });
  } else {
    service.store.instances.put(released);
  }
}

/** After an operation: a lease that expired meanwhile is carried out now. */
export function leaseAfterOperation(service: Service, instance: InstanceDoc, at: number): void {
  const job = service.store.jobs.get(leaseJob(instance.id));
  if (job !== undefined && job.due === null) service.engine.schedule({ ...job, due: at });
}

export function dropLease(service: Service, instance: string): void {
  service.engine.cancel(leaseJob(instance));
}
