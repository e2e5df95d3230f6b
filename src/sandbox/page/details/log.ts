import { runId, type Run } from '../../instances/run/operations.ts';
import type { InstanceDoc, LogDoc } from '../../model.ts';
import type { Service } from '../../service.ts';
import { html, type Html } from '../html.ts';
import { followButton, nothing, part, pathOf } from '../pieces.ts';

/** So much of the output is looked at for the page, bytes of each script. */
const MAX_BYTES = 100_000;
/** So many lines are shown, the last ones. */
const MAX_LINES = 500;

/** What one script printed; `running` while it is not over. */
interface Output {
  id: string;
  head: string;
  text: string;
  running: boolean;
}

const headOf = ({ machine, box, event }: Pick<LogDoc, 'machine' | 'box' | 'event'>): string =>
  `${machine} · ${box === '' ? '' : `${box}.`}${event}`;

/** The outputs of all scripts of an instance, the oldest first; that of the running one is what there is of it. */
function outputsOf(service: Service, instance: InstanceDoc): Output[] {
  const outputs = service.store.logs
    .by('instance', instance.id)
    .map((log) => ({ id: log.id, head: headOf(log), text: log.text, running: false }));
  const run = service.store.jobs.get(runId(instance.id))?.data as Run | undefined;
  const step = run?.steps[run.index];
  const text = service.scripts?.printed(instance.id, MAX_BYTES);
  if (run !== undefined && step?.do === 'script' && text !== undefined) {
    outputs.push({ id: `${run.operation}/${run.index}`, head: headOf(step), text, running: true });
  }
  return outputs;
}

/** Everything that scripts of an instance printed, as text. */
export function wholeLog(service: Service, instance: InstanceDoc): string {
  return outputsOf(service, instance)
    .map(({ head, text }) => `== ${head}\n${text}`)
    .join('');
}

interface Line {
  /** Stays with the line: what is there already is not touched when more comes. */
  id: string;
  text: string;
  head: boolean;
}

function linesOf({ id, head, text, running }: Output): Line[] {
  const shown = text.slice(-MAX_BYTES).replace(/\n$/, '').split('\n');
  const lines = text === '' ? [] : shown.map((line, n) => ({ id: `${id}/${n}`, text: line, head: false }));
  return [{ id, text: running ? `${head} (running)` : head, head: true }, ...lines];
}

/** The machine log with its last lines, which a reader can follow. */
export function logPart(service: Service, instance: InstanceDoc): Html {
  const outputs = outputsOf(service, instance);
  const lines: Line[] = [];
  // From the end: an instance may have printed far more than anybody reads.
  for (const output of outputs.toReversed()) {
    if (lines.length >= MAX_LINES) break;
    lines.unshift(...linesOf(output).slice(-MAX_LINES));
  }
  const shown = lines.slice(-MAX_LINES);
  const content =
    shown.length === 0
      ? nothing('No script has printed anything.')
      : html`<div class="log" id="machine-log" tabindex="0" role="log" aria-label="Machine log" data-follow>
          ${shown.map((line) => html`<div id="l-${line.id}" class="${line.head && 'log-head'}">${line.text}</div>`)}
        </div>`;
  return part(
    'machine-logs',
    'Machine log',
    content,
    shown.length > 0 &&
      html`<span class="tools">
        ${followButton('machine-log')}
        <a href="${pathOf('instances', instance.id)}/log">As text</a>
      </span>`,
  );
}
