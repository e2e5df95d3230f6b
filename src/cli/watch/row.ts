import { CONDITIONS } from '../../api/reasons.ts';
import { formatDuration } from '../../base/duration.ts';
import type { Column } from '../columns.ts';
import { printable } from '../terminal.ts';
import { presentConditions, readyOf, type WatchedResource } from './resource.ts';

/** One line of the table. */
export interface Row {
  kind: string;
  name: string;
  ready: 'True' | 'False' | 'Unknown';
  /** It says that nothing helps until a person acts. */
  stalled: boolean;
  reason: string;
  /** The condition's message; empty when ready. */
  message: string;
  phase: string;
  address: string;
  age: string;
}

/** What a narrow terminal can do without goes first. */
export const COLUMNS: readonly Column[] = [
  { head: 'KIND', rank: 2 },
  { head: 'NAME', rank: 0 },
  { head: 'READY', rank: 0 },
  { head: 'REASON', rank: 0 },
  { head: 'PHASE', rank: 3 },
  { head: 'ADDRESS', rank: 1 },
  { head: 'AGE', rank: 4 },
];

/** `now`: wall clock, for the age. A condition of an older generation counts as unknown. */
export function rowOf(resource: WatchedResource, now: number): Row {
  const { status, metadata } = resource;
  const conditions = presentConditions(resource);
  const condition = conditions.find(({ type }) => type === CONDITIONS.ready);
  const ready = readyOf(condition?.status);
  return {
    kind: resource.kind ?? '',
    name: metadata.name,
    ready,
    stalled: conditions.find(({ type }) => type === CONDITIONS.stalled)?.status === 'True',
    reason: printable(condition?.reason ?? ''),
    message: ready === 'True' ? '' : printable(condition?.message ?? ''),
    phase: printable(status?.phase ?? ''),
    address: printable(status?.address ?? ''),
    age: formatDuration(Math.max(0, now - Date.parse(metadata.creationTimestamp))),
  };
}

/** The cells of a row, in the order of {@link COLUMNS}. */
export function cellsOf(row: Row): string[] {
  const { kind, name, ready, reason, phase, address, age } = row;
  return [kind, name, ready, reason, phase, address, age];
}
