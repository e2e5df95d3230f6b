import type { Problem } from '../../../api/resource.ts';

/**
 * Status fields that only show: nothing that is sent to the service is decided by them, and each look at the
 * record makes them anew. Whatever is not named here may decide, a field that is added later included.
 */
const SHOWN_ONLY: ReadonlySet<string> = new Set([
  'uri',
  'policies',
  'drift',
  'stack',
  'provider',
  'state',
  'operation',
  'phase',
  'service',
  'address',
  'machines',
  'policyBox',
  'lastHandledRequest',
]);

/** Whether a field of status, named by its path below status, only shows. */
export function isShownOnly(path: string): boolean {
  return SHOWN_ONLY.has(path.split(/[.[]/, 1)[0] ?? '');
}

/**
 * A stored object without the fields of status that do not fit the schema, where all that does not fit only
 * shows: a newer version of the operator may have written a word that this one does not know. Undefined where
 * something else does not fit.
 */
export function withoutMisfits(
  raw: { status?: unknown },
  problems: readonly Problem[],
): { status: Record<string, unknown> } | undefined {
  const paths = problems.map(({ path }) => (path.startsWith('status.') ? path.slice('status.'.length) : ''));
  const { status } = raw;
  if (typeof status !== 'object' || status === null || !paths.every(isShownOnly)) return undefined;
  const misfits = new Set(paths.map((path) => path.split(/[.[]/, 1)[0] ?? ''));
  return {
    ...raw,
    status: Object.fromEntries(Object.entries(status).filter(([name]) => !misfits.has(name))),
  };
}
