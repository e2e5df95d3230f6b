import { blobByUrl } from '../blobs/routes.ts';
import type { ActivityLine, InstanceDoc, JobDoc, Machine, ServiceDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { leaseAfterOperation } from './lease.ts';
import { dueOf, finishRecord, line, machineNames, type Run } from './operations.ts';
import { release } from '../organizations/cost-centers.ts';
import type { Step } from './plan.ts';
import { simulate } from './simulate.ts';

/** Carries an operation's job one step on. */
export function runOperation(service: Service, job: JobDoc, at: number): void {
  const run = job.data as Run;
  const instance = service.store.instances.get(run.instance);
  const step = run.steps[run.index];
  if (instance === undefined || step === undefined) {
    service.engine.cancel(job.id);
    return;
  }
  const next: Run = { ...run, index: run.index + 1 };
  const goOn = (due = dueOf(next)): void => {
    service.engine.schedule({ ...job, due, data: next });
  };
  if (step.do === 'machines') {
    addMachines(service, instance, run, at);
    goOn();
  } else if (step.do === 'phase') {
    service.store.instances.put(withEvent(service, instance, step.event, at));
    goOn();
  } else if (step.do === 'finish') {
    if (run.effect === 'fail') fail(service, instance, run, 'The operation failed', at);
    else finish(service, instance, run, at);
  } else {
    const code = script(service, instance, run, step, at);
    if (code === 0) goOn();
    else if (code !== 100) fail(service, instance, run, undefined, at);
    else if (service.rules.rebootComes) {
      // The rest of the operation moves by the time that the reboot takes.
      const later = { ...next, started: run.started + service.settings.durations.reboot };
      service.engine.schedule({ ...job, due: dueOf(later), data: later });
    } else {
      service.engine.schedule({ ...job, due: null, data: next });
    }
  }
}

function note(service: Service, run: Run, ...lines: ActivityLine[]): void {
  const record = service.store.operations.get(run.operation);
  const last = lines.at(-1);
  if (record === undefined || last === undefined) return;
  service.store.operations.put({
    ...record,
    activity: [...record.activity, ...lines],
    updated: last.created,
  });
}

const user = (service: Service, run: Run): string =>
  service.store.operations.get(run.operation)?.username ?? '';

function addMachines(service: Service, instance: InstanceDoc, run: Run, at: number): void {
  const { ids, time } = service;
  if (instance.service.machines.length > 0) return;
  const names = instance.service.type.endsWith('Compute') ? machineNames(instance) : [];
  const machines = names.map((name, index): Machine => ({
    name,
    state: 'processing',
    workflow: [],
    token: ids.uuid(),
    external_id: `sim-${ids.hex(8)}`,
    address: { public: `127.0.${Math.floor(index / 250)}.${(index % 250) + 2}`, private: '127.0.0.1' },
  }));
  const username = user(service, run);
  const lines = names.map((name) => ({
    ...line(username, `Machine ${name} is up`, 'add', time.stamp(at)),
    machine: name,
  }));
  const stamp = time.stamp(at);
  service.store.instances.put({
    ...instance,
    service: up(instance.service, machines, stamp),
    updated: stamp,
  });
  note(service, run, ...lines);
}

function up(service: ServiceDoc, machines: Machine[], stamp: string): ServiceDoc {
  return {
    ...service,
    machines,
    state: 'processing',
    state_history: [...service.state_history, { state: 'up', started: stamp, completed: null }],
  };
}

function withEvent(service: Service, instance: InstanceDoc, event: string, at: number): InstanceDoc {
  return {
    ...instance,
    operation: { ...instance.operation, event },
    updated: service.time.stamp(at),
  };
}

/** Runs (or simulates) one script and writes down what it did. Returns the exit code. */
function script(
  service: Service,
  instance: InstanceDoc,
  run: Run,
  step: Extract<Step, { do: 'script' }>,
  at: number,
): number {
  const blob = blobByUrl(service, step.url);
  const content = blob === undefined ? undefined : service.store.content.get(blob.id);
  const result =
    content === undefined
      ? { exitCode: 127, output: `no file at ${step.url}` }
      : simulate(Buffer.from(content).toString('utf8'));
  const { exitCode, output } = result;
  const username = user(service, run);
  const where = { box: step.box, machine: step.machine, event: step.event };
  const level = step.event.includes('install')
    ? 'install'
    : step.event.includes('configure')
      ? 'configure'
      : 'info';
  const lines: ActivityLine[] = [];
  for (const text of output.split('\n').filter((row) => row !== '')) {
    lines.push({ ...line(username, text, 'info', service.time.stamp(at)), ...where });
  }
  const name = step.box === '' ? step.event : `${step.box}.${step.event}`;
  const outcome =
    exitCode === 0 ? 'done' : exitCode === 100 ? 'asks for a reboot' : `failed with exit code ${exitCode}`;
  lines.push({
    ...line(username, `${name} on ${step.machine}: ${outcome}`, level, service.time.stamp(at)),
    ...where,
    exit_code: exitCode,
  });
  note(service, run, ...lines);
  service.store.logs.put({
    id: `${run.operation}/${run.index}`,
    instance: instance.id,
    operation: run.operation,
    machine: step.machine,
    box: step.box,
    event: step.event,
    text: output === '' ? '' : `${output}\n`,
  });
  const entry = {
    box: step.box,
    event: step.event,
    script: (step.destination ?? blob?.name ?? '').slice(0, 512),
  };
  // The workflow lists what a deploy ran (interface document section 6).
  if (run.event === 'deploy') {
    const machines = instance.service.machines.map((machine) =>
      machine.name === step.machine ? { ...machine, workflow: [...machine.workflow, entry] } : machine,
    );
    service.store.instances.put({ ...instance, service: { ...instance.service, machines } });
  }
  return exitCode;
}

const WENT_DOWN = new Set(['shutdown', 'shutdown_service', 'terminate', 'terminate_service']);

/** The operation ended well. */
function finish(service: Service, instance: InstanceDoc, run: Run, at: number): void {
  const down = WENT_DOWN.has(run.event);
  const gone = run.event === 'terminate';
  const stamp = service.time.stamp(at);
  service.engine.cancel(`run:${instance.id}`);
  note(
    service,
    run,
    line(user(service, run), `${instance.name}: ${run.event} is done`, down ? 'stop' : 'success', stamp),
  );
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
  if (gone) release(service, instance.organization, instance.id, stamp);
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
  service.engine.cancel(`run:${instance.id}`);
  if (reason !== undefined) {
    note(service, run, line(user(service, run), reason, 'info', service.time.stamp(at)));
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
