import { blobByUrl } from '../../blobs/url.ts';
import type { ActivityLine, InstanceDoc } from '../../model.ts';
import type { Service } from '../../service.ts';
import { line, type Run } from '../run/operations.ts';
import { note, userOf } from '../run/outcome.ts';
import type { ScriptStep } from '../run/plan.ts';
import type { ScriptResult } from './simulate.ts';

/** The text of a step's script, undefined when its file is not there. */
export function scriptContent(service: Service, step: ScriptStep): Uint8Array | undefined {
  const blob = blobByUrl(service, step.url);
  return blob === undefined ? undefined : service.store.content.get(blob.id);
}

const levelOf = (event: string): string =>
  event.includes('install') ? 'install' : event.includes('configure') ? 'configure' : 'info';

/** At most this many lines of output go into the activity; all of it is in the machine log. */
const MAX_LINES = 100;

/** Writes down what a script did: activity, machine log, and the workflow of a deploy. */
export function recordScript(
  service: Service,
  instance: InstanceDoc,
  run: Run,
  step: ScriptStep,
  result: ScriptResult,
  at: number,
): void {
  const { exitCode, output } = result;
  const username = userOf(service, run);
  const where = { box: step.box, machine: step.machine, event: step.event };
  const lines: ActivityLine[] = output
    .split('\n')
    .filter((text) => text !== '')
    .slice(0, MAX_LINES)
    .map((text) => ({ ...line(username, text.slice(0, 1000), 'info', service.time.stamp(at)), ...where }));
  const name = step.box === '' ? step.event : `${step.box}.${step.event}`;
  const outcome =
    exitCode === 0
      ? 'done'
      : exitCode === 100
        ? 'asks for a reboot'
        : `failed with exit code ${exitCode}${result.timedOut === true ? ' (out of time)' : ''}`;
  const text = `${name} on ${step.machine}: ${outcome}`;
  lines.push({
    ...line(username, text, levelOf(step.event), service.time.stamp(at)),
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
    text: output === '' || output.endsWith('\n') ? output : `${output}\n`,
  });
  // The workflow lists what a deploy ran (interface document section 6).
  if (run.event !== 'deploy') return;
  const script = (step.destination ?? blobByUrl(service, step.url)?.name ?? '').slice(0, 512);
  const machines = instance.service.machines.map((machine) =>
    machine.name === step.machine
      ? { ...machine, workflow: [...machine.workflow, { box: step.box, event: step.event, script }] }
      : machine,
  );
  service.store.instances.put({ ...instance, service: { ...instance.service, machines } });
}
