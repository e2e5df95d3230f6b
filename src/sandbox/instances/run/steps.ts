import type { InstanceDoc, JobDoc } from '../../model.ts';
import type { Service } from '../../service.ts';
import { addMachines } from './machines.ts';
import { dueOf, type Run } from './operations.ts';
import { fail, finish } from './outcome.ts';
import type { ScriptStep, Step } from './plan.ts';
import { recordScript, scriptContent } from '../scripts/script-step.ts';
import { simulate, type ScriptResult } from '../scripts/simulate.ts';
import { environmentOf } from './environment.ts';
import { applyWebhooks, webhookCalls, type WebhookResult } from '../webhooks/webhooks.ts';

/** Carries an operation's job one step on. */
export function runOperation(service: Service, job: JobDoc, at: number): void {
  const run = job.data as Run;
  const instance = service.store.instances.get(run.instance);
  const step = run.steps[run.index];
  if (instance === undefined || step === undefined) {
    service.engine.cancel(job.id);
    return;
  }
  ACTIONS[step.do]({ service, job, run, instance, step: step as never, at });
}

interface Turn<S extends Step> {
  service: Service;
  job: JobDoc;
  run: Run;
  instance: InstanceDoc;
  step: S;
  at: number;
}

const ACTIONS: { [K in Step['do']]: (turn: Turn<Extract<Step, { do: K }>>) => void } = {
  machines: (turn) => {
    addMachines(turn.service, turn.instance, turn.run, turn.at);
    goOn(turn);
  },
  webhooks: ({ service, job, run, instance, step, at }) => {
    const calls = webhookCalls(service, instance, step.operation);
    service.engine.wait(job, run.index, () => service.webhooks.callAll(calls), at);
  },
  script: ({ service, job, run, instance, step, at }) => {
    const content = scriptContent(service, step);
    if (content === undefined) {
      const missing = { exitCode: 127, output: `there is no file at ${step.url}` };
      scriptEnded({ service, job, run, instance, step, at }, missing);
    } else if (service.scripts === undefined) {
      const result = simulate(Buffer.from(content).toString('utf8'));
      scriptEnded({ service, job, run, instance, step, at }, result);
    } else {
      const { scripts } = service;
      const environment = environmentOf(service, instance, step);
      service.engine.wait(job, run.index, () => scripts.run(instance.id, step, content, environment), at);
    }
  },
  phase: (turn) => {
    const { service, instance, step, at } = turn;
    service.store.instances.put({
      ...instance,
      operation: { ...instance.operation, event: step.event },
      updated: service.time.stamp(at),
    });
    goOn(turn);
  },
  finish: ({ service, run, instance, at }) => {
    if (run.effect === 'fail') fail(service, instance, run, 'The operation failed', at);
    else finish(service, instance, run, at);
  },
};

/** What a step was waiting for has come. */
export function resumeOperation(service: Service, job: JobDoc, result: unknown, at: number): void {
  const run = job.data as Run;
  const instance = service.store.instances.get(run.instance);
  const step = run.steps[run.index];
  if (instance === undefined || step === undefined) return;
  if (step.do === 'script') {
    scriptEnded({ service, job, run, instance, step, at }, result as ScriptResult);
  } else if (step.do === 'webhooks') {
    const done = applyWebhooks(service, instance, run, step.operation, result as WebhookResult, at);
    if (done) goOn({ service, job, run, instance, step, at });
    else fail(service, instance, run, 'A webhook gave no address', at);
  }
}

/** The next step, when its time comes. */
function goOn({ service, job, run, at }: Turn<Step>): void {
  const next: Run = { ...run, index: run.index + 1 };
  service.engine.schedule({ ...job, due: Math.max(at, dueOf(next)), data: next });
}

function scriptEnded(turn: Turn<ScriptStep>, result: ScriptResult): void {
  const { service, job, run, instance, step, at } = turn;
  recordScript(service, instance, run, step, result, at);
  if (result.exitCode === 0) {
    goOn(turn);
  } else if (result.exitCode !== 100) {
    fail(service, instance, run, undefined, at);
  } else if (service.rules.rebootComes) {
    // The rest of the operation moves by the time that the reboot takes.
    const { reboot } = service.settings.durations;
    const later: Run = { ...run, index: run.index + 1, started: run.started + reboot };
    service.engine.schedule({ ...job, due: Math.max(at + reboot, dueOf(later)), data: later });
  } else {
    service.engine.schedule({ ...job, due: null, data: { ...run, index: run.index + 1 } });
  }
}
