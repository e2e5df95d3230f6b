import { kindOf, type KindName } from '../../../api/kinds.ts';
import { CONDITIONS, factsOf, REASONS, type Reason } from '../../../api/reasons.ts';
import { columnValue } from '../../../api/schema/column-path.ts';
import { AGE_COLUMN, READY_COLUMN, reasonColumn } from '../../../api/schema/kind.ts';
import { printable } from '../../terminal.ts';
import {
  presentConditions,
  readyOf,
  type SeenCondition,
  type WatchedResource,
} from '../../watch/resource.ts';

/** A condition beside Ready. */
export interface Note {
  type: string;
  reason: string;
  message: string;
  since: string | undefined;
}

/** An operation under way, as status has it. */
export interface Operation {
  event: string;
  startedAt: string | undefined;
  deadline: string | undefined;
}

/** What a person wants to know of one resource at a glance. */
export interface Entry {
  kind: string;
  namespace: string;
  name: string;
  ready: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  /** Since when Ready is what it is, RFC 3339. */
  since: string | undefined;
  /** Nothing helps until a person acts. */
  isStalled: boolean;
  deletingSince: string | undefined;
  /** What else is true of it, and waits for somebody. */
  notes: readonly Note[];
  operation: Operation | undefined;
  /** What a person does about it; undefined where there is nothing to do. */
  nextStep: string | undefined;
  /** The further columns of the kind that have a value. */
  details: Readonly<Record<string, string>>;
}

const UNTOUCHED = 'No operator has looked at it yet';
const OLDER = 'The operator has not seen the last change yet';
/** Columns that every entry has by itself. */
const OWN_COLUMNS: ReadonlySet<string> = new Set([
  READY_COLUMN.name,
  AGE_COLUMN.name,
  reasonColumn().name,
  'MESSAGE',
]);

/** Conditions that are True while all is well. */
const POSITIVE: ReadonlySet<string> = new Set([
  CONDITIONS.credentialsValid,
  CONDITIONS.reachable,
  CONDITIONS.published,
]);
/** Conditions that say the same as Ready where they have its reason. */
const REPEATING: ReadonlySet<string> = new Set([
  CONDITIONS.reconciling,
  CONDITIONS.stalled,
  CONDITIONS.published,
]);

/** The entry of a resource. */
export function entryOf(resource: WatchedResource): Entry {
  const { metadata, status } = resource;
  const conditions = presentConditions(resource);
  const ready = conditions.find(({ type }) => type === CONDITIONS.ready);
  const isReady = readyOf(ready?.status);
  const reason = printable(ready?.reason ?? '');
  const silence = (status?.observedGeneration ?? -1) < 0 ? UNTOUCHED : OLDER;
  const operation = status?.currentOperation;
  return {
    kind: resource.kind ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ready: isReady,
    reason,
    message: ready === undefined ? silence : printable(ready.message),
    since: ready?.lastTransitionTime,
    isStalled: conditions.some(({ type, status: is }) => type === CONDITIONS.stalled && is === 'True'),
    deletingSince: metadata.deletionTimestamp,
    notes: conditions.filter((condition) => isNote(condition, reason)).map(noteOf),
    operation:
      operation?.event === undefined
        ? undefined
        : { event: printable(operation.event), startedAt: operation.startedAt, deadline: operation.deadline },
    nextStep: nextStepOf(reason),
    details: detailsOf(resource),
  };
}

/** What a person does about a reason; undefined where there is nothing to do, or the reason is not known. */
export function nextStepOf(reason: string): string | undefined {
  if (!Object.hasOwn(REASONS, reason)) return undefined;
  const { whatToDo } = factsOf(reason as Reason);
  return whatToDo === 'Nothing.' ? undefined : whatToDo;
}

/** Some conditions repeat what Ready says; what is False by design says that it is well. */
function isNote({ type, status, reason }: SeenCondition, readyReason: string): boolean {
  if (type === CONDITIONS.ready) return false;
  if (REPEATING.has(type) && reason === readyReason) return false;
  return POSITIVE.has(type) ? status !== 'True' : status === 'True';
}

function noteOf({ type, reason, message, lastTransitionTime }: SeenCondition): Note {
  return {
    type: printable(type),
    reason: printable(reason),
    message: printable(message),
    since: lastTransitionTime,
  };
}

function detailsOf(resource: WatchedResource): Record<string, string> {
  const { columns } = kindOf(resource.kind as KindName);
  return Object.fromEntries(
    columns
      .filter(({ name, priority }) => priority === undefined && !OWN_COLUMNS.has(name))
      .map(({ name, jsonPath }) => [name, columnValue(jsonPath, resource)] as const)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
      .map(([name, value]) => [name, printable(String(value))]),
  );
}
