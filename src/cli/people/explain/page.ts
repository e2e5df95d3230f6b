import { stringify } from 'yaml';
import { ANNOTATIONS } from '../../../api/names.ts';
import { formatDuration } from '../../../base/duration.ts';
import { wrap, type Paint } from '../../terminal.ts';
import type { Explanation, Happened } from './facts.ts';

/** How the page is set. */
export interface PageOptions {
  width: number;
  paint: Paint;
  /** Wall clock. */
  now: number;
}

interface Section {
  title: string;
  /** Sentences, each of which is wrapped. */
  text?: readonly string[];
  /** Lines that stay as they are, but for what is too wide. */
  block?: readonly string[];
}

/** Lines of a block that are shown at most: a page is one page. */
const BLOCK_LINES = 24;

/** An explanation as one page of words. */
export function pageOf(explanation: Explanation, { width, paint, now }: PageOptions): string[] {
  const { kind, name, namespace } = explanation.entry;
  const lines = [paint.bold(`${kind}/${name} in namespace ${namespace}`)];
  for (const { title, text = [], block = [] } of sectionsOf(explanation, now)) {
    if (text.length === 0 && block.length === 0) continue;
    lines.push('', paint.bold(title));
    for (const sentence of text) lines.push(...wrap(sentence, width - 2).map((line) => `  ${line}`));
    for (const line of block.slice(0, BLOCK_LINES)) lines.push(`  ${line}`.slice(0, width));
    if (block.length > BLOCK_LINES)
      lines.push(paint.dim(`  … ${block.length - BLOCK_LINES} more lines: -o yaml`));
  }
  return lines;
}

function sectionsOf(explanation: Explanation, now: number): Section[] {
  const { entry, declared, found, differs, keeper, events, nextSteps } = explanation;
  return [
    { title: headlineOf(explanation, now), text: stateOf(explanation) },
    { title: 'What to do', text: stepsOf(entry.ready, nextSteps) },
    { title: 'Under way', text: underWay(explanation, now) },
    { title: 'What went wrong last', text: wentWrong(explanation, now) },
    { title: 'Also', text: entry.notes.map(({ type, message }) => `${type}: ${message}`) },
    {
      title: 'What differs from the declaration',
      block: differs.map(
        ({ field, want, have }) => `${field}: declared ${want ?? 'nothing'}, found ${have ?? 'nothing'}`,
      ),
    },
    { title: 'Declared', block: yamlOf(declared) },
    { title: 'On the service', text: recordOf(explanation), block: yamlOf(found) },
    { title: 'Who claims the record', text: claimsOf(explanation) },
    { title: 'Operator', text: [keeper.text] },
    { title: 'Latest events', block: events.map((event) => eventLine(event, now)) },
  ];
}

function headlineOf(
  { entry: { ready, reason, since, isStalled, deletingSince } }: Explanation,
  now: number,
): string {
  const state = { True: 'Ready', False: isStalled ? 'Stalled' : 'Not Ready', Unknown: 'Not known' }[ready];
  const why = reason === '' ? '' : `: ${reason}`;
  const forHow = since === undefined ? '' : ` (for ${ago(since, now)})`;
  const deleting = deletingSince === undefined ? '' : `, being deleted for ${ago(deletingSince, now)}`;
  return `${state}${why}${forHow}${deleting}`;
}

function stepsOf(ready: string, steps: readonly string[]): readonly string[] {
  if (steps.length > 0) return steps;
  return [ready === 'Unknown' ? 'Wait for the operator, and look again.' : 'Nothing.'];
}

function stateOf({ entry: { message }, situation }: Explanation): string[] {
  return [message, situation].filter((text) => text !== undefined && text !== '') as string[];
}

function underWay({ entry: { operation } }: Explanation, now: number): string[] {
  if (operation === undefined) return [];
  const { event, startedAt, deadline } = operation;
  const began = startedAt === undefined ? '' : ` It began ${ago(startedAt, now)} ago.`;
  const stuck = deadline === undefined ? '' : ` It counts as stuck at ${deadline}.`;
  return [`The operation ${event}.${began}${stuck}`];
}

function wentWrong({ lastFailure, refusedRequest }: Explanation, now: number): string[] {
  const lines: string[] = [];
  if (lastFailure !== undefined) {
    const { what, at, message } = lastFailure;
    const when = at === undefined ? '' : ` ${ago(at, now)} ago`;
    lines.push(`The operation ${what} failed${when}${message === '' ? '' : `: ${message}`}`);
  }
  if (refusedRequest !== undefined)
    lines.push(`The request to ${refusedRequest.operation} was refused: ${refusedRequest.message}`);
  return lines;
}

function recordOf({ record }: Explanation): string[] {
  if (record === undefined) return ['No record is known.'];
  const { id, endpoint, owner } = record;
  const place = endpoint === undefined ? '' : ` at ${endpoint}`;
  return [`Record ${id}${place}${owner === undefined ? '' : `, owned by workspace ${owner}`}.`];
}

/** Who may edit a resource can write its annotations: what they say is told as theirs. */
function claimsOf({ claimedBy, installation, disputes, record }: Explanation): string[] {
  if (claimedBy === undefined) return [...disputes];
  if (record === undefined)
    return [
      `The annotation ${ANNOTATIONS.claim} names installation ${claimedBy}, but status knows no record: every author who may edit the resource can write annotations.`,
      ...disputes,
    ];
  const whose =
    installation === undefined
      ? ''
      : installation === claimedBy
        ? ', which is the one that looks after this resource'
        : `, but installation ${installation} looks after this resource`;
  return [`By annotation, installation ${claimedBy} claims it${whose}.`, ...disputes];
}

function yamlOf(value: unknown): string[] {
  const text = stringify(value, { lineWidth: 0 }).trimEnd();
  return text === '{}' ? [] : text.split('\n');
}

function eventLine({ at, type, reason, note, count }: Happened, now: number): string {
  const times = count > 1 ? ` (${count} times)` : '';
  return `${ago(at, now).padEnd(7)} ${type === 'Warning' ? '! ' : '  '}${reason}${times}: ${note}`;
}

function ago(time: string, now: number): string {
  const ms = now - Date.parse(time);
  return Number.isNaN(ms) ? '' : formatDuration(Math.max(0, Math.floor(ms / 1_000) * 1_000));
}
