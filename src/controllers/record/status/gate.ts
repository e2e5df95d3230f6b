import { isDeepStrictEqual } from 'node:util';
import { kindOf, type KindName } from '../../../api/kinds.ts';
import type { Problem } from '../../../api/resource.ts';
import { fit, type Mask, type Misfit } from '../../../api/schema/fit.ts';
import { isShown } from '../../../api/schema/shown.ts';
import { verdict, type Verdict } from './verdict.ts';

/**
 * The one gate to status: whatever is written there, of whatever kind, is fitted here to the schema that the API
 * server judges it by. What only shows is cut; what decides is never cut, and where it does not fit, the step that
 * it was to precede is not taken. Which fields are which stands beside the schema (`shown`, `token`).
 */

/** A status that fits, and what had to stay away. */
export interface FittedStatus<S> {
  status: S;
  /** Why nothing may be sent; undefined where all that decides could be kept. */
  stop: Verdict | undefined;
}

/**
 * Fits a status. What decides and does not fit stays as `current` has it; what is as `current` has it is stored
 * already, by whatever version, and stays as it is. What only shows goes through `mask`.
 */
export function fitStatus<S extends object>(kind: string, next: S, current: S, mask?: Mask): FittedStatus<S> {
  const stored = { ...current } as Readonly<Record<string, unknown>>;
  const changed = Object.fromEntries(
    Object.entries(next).filter(([root, value]) => !isDeepStrictEqual(value, stored[root])),
  );
  const { fitted, misfits } = fitFields(kind, changed, mask);
  const unfit = new Set(misfits.map(({ path }) => rootOf(path)));
  const status = Object.entries(next).flatMap(([root]): [string, unknown][] => {
    const value = Object.hasOwn(changed, root) && !unfit.has(root) ? fitted[root] : stored[root];
    return value === undefined ? [] : [[root, value]];
  });
  return { status: Object.fromEntries(status) as S, stop: stopOf(misfits) };
}

/**
 * Why a step must not be taken, asked before anything is sent: it would have to be noted in fields that do not fit.
 * Undefined where they do.
 */
export function notSupported(kind: string, fields: object): Verdict | undefined {
  return stopOf(fitFields(kind, fields).misfits);
}

function fitFields(
  kind: string,
  fields: object,
  mask?: Mask,
): { fitted: Record<string, unknown>; misfits: Misfit[] } {
  const { value, misfits } = fit(statusSchema(kind), fields, mask);
  return {
    fitted: value as Record<string, unknown>,
    // These are a part of a status: that others are missing says nothing.
    misfits: misfits.filter(({ path }) => Object.hasOwn(fields, rootOf(path))),
  };
}

/** Whether a field of status, named by its path below status, only shows. */
export function isShownOnly(kind: string, path: string): boolean {
  return isShown(statusSchema(kind), path);
}

/**
 * A stored object without the fields of status that do not fit the schema, where all that does not fit only
 * shows: a newer version of the operator may have written a word that this one does not know. Undefined where
 * something else does not fit.
 */
export function withoutMisfits(
  kind: string,
  raw: { status?: unknown },
  problems: readonly Problem[],
): { status: Record<string, unknown> } | undefined {
  const paths = problems.map(({ path }) => (path.startsWith('status.') ? path.slice('status.'.length) : ''));
  const { status } = raw;
  if (typeof status !== 'object' || status === null) return undefined;
  if (!paths.every((path) => isShownOnly(kind, path))) return undefined;
  const misfits = new Set(paths.map(rootOf));
  return {
    ...raw,
    status: Object.fromEntries(Object.entries(status).filter(([name]) => !misfits.has(name))),
  };
}

function statusSchema(kind: string): Parameters<typeof fit>[0] {
  const { status } = kindOf(kind as KindName).schema.properties;
  if (status === undefined) throw new Error(`${kind} has no status`);
  return status;
}

function rootOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}

function stopOf(misfits: readonly Misfit[]): Verdict | undefined {
  const [first, ...more] = misfits;
  if (first === undefined) return undefined;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return verdict(
    'NotSupported',
    `status.${first.path} ${first.why}${rest}. Nothing is sent that this note must precede: make the value shorter ` +
      `in the resource or on the service`,
  );
}
