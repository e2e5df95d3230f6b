import { verdict, type Verdict } from './verdict.ts';

/** So many of those that use something are named. */
const NAMED = 5;

/** A deletion waits for those that use what is deleted. `wayOut`: what else may be done than to delete them. */
export function inUse(users: readonly string[], recheckAfterMs?: number, wayOut = ''): Verdict {
  const first = users.slice(0, NAMED).join(', ');
  const more = users.length > NAMED ? ` and ${users.length - NAMED} more` : '';
  const message = `Used by ${first}${more}: delete these first${wayOut}; this one then goes by itself`;
  return verdict('InUse', message, recheckAfterMs);
}
