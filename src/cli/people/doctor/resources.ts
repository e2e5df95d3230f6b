import { unknownAnnotations, unknownAnnotationText } from '../../../api/names.ts';
import { factsOf, REASONS, type Reason } from '../../../api/reasons.ts';
import { formatDuration } from '../../../base/duration.ts';
import { printable } from '../../terminal.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import { entryOf, type Entry } from '../status/entry.ts';
import { checkOf, type Check, type Complaint } from './check.ts';

/** Resources that one sentence names. */
const NAMED = 3;
/** A deletion, or a first look, that takes longer is worth a word. Milliseconds. */
const LONG_MS = 3_600_000;
const UNSEEN_MS = 120_000;

/** Connections that do not work, and what else they warn of. */
export function checkConnections(resources: readonly WatchedResource[]): Check {
  const connections = resources.filter(({ kind }) => kind === 'Connection').map(entryOf);
  const complaints = connections.flatMap((entry): Complaint[] => [
    ...(entry.ready === 'True'
      ? []
      : [
          {
            state: entry.isStalled ? ('Wrong' as const) : ('Doubtful' as const),
            text: `${placeOf(entry)}: ${sentence(entry.reason, entry.message)}`,
            ...stepOf(entry),
          },
        ]),
    ...entry.notes.map(({ type, reason, message }) => ({
      state: 'Doubtful' as const,
      text: `${placeOf(entry)}: ${type}: ${sentence(reason, message)}`,
    })),
  ]);
  return checkOf(
    'connections',
    'Connections',
    complaints,
    connections.length === 0
      ? 'There are none.'
      : `${connections.length === 1 ? 'The one there is' : `All ${connections.length}`} can be used.`,
  );
}

/** Resources that wait for a person, by reason. */
export function checkStalled(resources: readonly WatchedResource[]): Check {
  const byReason = new Map<string, Entry[]>();
  for (const resource of resources) {
    const entry = entryOf(resource);
    if (!entry.isStalled || entry.kind === 'Connection') continue;
    byReason.set(entry.reason, [...(byReason.get(entry.reason) ?? []), entry]);
  }
  const complaints = [...byReason].map(([reason, entries]): Complaint => ({
    state: 'Wrong',
    text: `${reason}: ${named(entries)}.`,
    nextStep: `${reason}: ${Object.hasOwn(REASONS, reason) ? factsOf(reason as Reason).whatToDo : 'see boxwright explain'}`,
  }));
  return checkOf(
    'stalled',
    'Resources that wait for a person',
    complaints,
    `None of ${resources.length} does.`,
  );
}

/** What no operator has looked at, and deletions that do not end. */
export function checkProgress(resources: readonly WatchedResource[], now: number): Check {
  const isOld = (time: string | undefined, ms: number): boolean => now - Date.parse(time ?? '') > ms;
  const unseen = resources.filter(
    ({ metadata, status }) =>
      status?.observedGeneration === undefined && isOld(metadata.creationTimestamp, UNSEEN_MS),
  );
  const deleting = resources.filter(({ metadata }) => isOld(metadata.deletionTimestamp, LONG_MS));
  const complaints: Complaint[] = [];
  if (unseen.length > 0)
    complaints.push({
      state: 'Wrong',
      text: `No operator has ever looked at ${named(unseen.map(entryOf))}, made more than ${formatDuration(UNSEEN_MS)} ago.`,
      nextStep: `kubectl boxwright explain ${wordOf(unseen.map(entryOf)[0])}`,
    });
  if (deleting.length > 0)
    complaints.push({
      state: 'Wrong',
      text: `Being deleted for more than ${formatDuration(LONG_MS)}: ${named(deleting.map(entryOf))}.`,
      nextStep: `kubectl boxwright explain ${wordOf(deleting.map(entryOf)[0])}`,
    });
  return checkOf(
    'progress',
    'Nothing left behind',
    complaints,
    'An operator has looked at everything, and no deletion lasts.',
  );
}

/** Annotations of our group that nobody reads. */
export function checkAnnotations(resources: readonly WatchedResource[]): Check {
  const complaints = resources.flatMap((resource) =>
    unknownAnnotations(resource.metadata.annotations).map((key): Complaint => ({
      state: 'Doubtful',
      text: printable(`${placeOf(entryOf(resource))}: ${unknownAnnotationText(key)}.`),
    })),
  );
  return checkOf('annotations', 'Annotations', complaints, 'None is mistyped.');
}

function stepOf({ nextStep }: Entry): { nextStep?: string } {
  return nextStep === undefined ? {} : { nextStep };
}

function sentence(reason: string, message: string): string {
  return reason === '' ? message : `${reason}: ${message}`;
}

function placeOf({ kind, namespace, name }: Entry): string {
  return printable(`${kind}/${name} in namespace ${namespace}`);
}

function wordOf(entry: Entry | undefined): string {
  return entry === undefined
    ? ''
    : printable(`${entry.kind.toLowerCase()}/${entry.name} -n ${entry.namespace}`);
}

function named(entries: readonly Entry[]): string {
  const rest = entries.length - NAMED;
  return `${entries.slice(0, NAMED).map(placeOf).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
