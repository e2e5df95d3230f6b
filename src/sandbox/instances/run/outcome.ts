import type { ActivityLine, InstanceDoc, ServiceDoc } from '../../model.ts';
import { release } from '../../organizations/cost-centers.ts';
import type { Service } from '../../service.ts';
import { leaseAfterOperation } from '../lease.ts';
import { finishRecord, line, type Run, runId } from './operations.ts';

/** Lines of an operation's activity; beyond, each script leaves its outcome only. */
const MAX_LINES = 2_000;

/** Adds lines to the activity of the operation that runs. */
export function note(service: Service, run: Run, ...lines: ActivityLine[]): void {
  const record = service.store.operations.get(run.operation);
  const last = lines.at(-1);
  if (record === undefined || last === undefined) return;
  service.store.operations.put({
    ...record,
    activity: [...record.activity, ...(record.activity.length < MAX_LINES ? lines : [last])],
    updated: last.created,
  });
}

/** Who started the operation that runs. */
export function userOf(service: Service, run: Run): string {
  return service.store.operations.get(run.operation)?.username ?? '';
}

const WENT_DOWN = new Set(['shutdown', 'terminate']);

/** The operation ended well. */
export function finish(service: Service, instance: InstanceDoc, run: Run, at: number): void {
  const down = WENT_DOWN.has(run.event);
  const gone = run.event === 'terminate';
  const stamp = service.time.stamp(at);
  service.engine.cancel(runId(instance.id));
  const text = `${instance.name}: ${run.event} is done`;
  note(service, run, line(userOf(service, run), text, down ? 'stop' : 'success', stamp));
  finishRecord(service, run.operation, 'done', at);
  const machines = instance.service.machines.map((machine) => ({ ...machine, state: 'done' }));
  const done = service.store.instances.put({
    ...instance,
    state: 'done',
    updated: service.time.stamp(at),
    service: {
      ...instance.service,
      state: down ? (gone ? 'terminated' : 'stopped') : 'running',
      machines: gone ? [] : machines,
      state_history: history(instance.service, down, stamp),
    },
  });
  if (gone) {
    release(service, instance.organization, instance.id, stamp);
    service.scripts?.end(instance.id);
  }
  leaseAfterOperation(service, done, at);
}

function history(service: ServiceDoc, down: boolean, stamp: string): ServiceDoc['state_history'] {
  const past = service.state_history;
  const last = past.at(-1);
  const state = down ? 'down' : 'up';
  if (last?.state === state) return past;
  const closed = last === undefined ? [] : [...past.slice(0, -1), { ...last, completed: stamp }];
  return [...closed, { state, started: stamp, completed: null }];
}

/** The operation ended badly: unavailable, with the event as it is (service-behaviour.md 2.1). */
export function fail(
  service: Service,
  instance: InstanceDoc,
  run: Run,
  reason: string | undefined,
  at: number,
): void {
  service.engine.cancel(runId(instance.id));
  if (reason !== undefined) {
    note(service, run, line(userOf(service, run), reason, 'info', service.time.stamp(at)));
  }
  finishRecord(service, run.operation, 'unavailable', at);
  const current = service.store.instances.get(instance.id) ?? instance;
  const failed = service.store.instances.put({
    ...current,
    state: 'unavailable',
    operation: { ...current.operation, event: run.event },
    updated: service.time.stamp(at),
    service: {
      ...current.service,
      machines: current.service.machines.map((machine) => ({ ...machine, state: 'unavailable' })),
    },
  });
  leaseAfterOperation(service, failed, at);
}
