import type { Problem } from '../../../api/resource.ts';
import { verdict, type Verdict } from './verdict.ts';

/** The path of the problem of a resource that the caches have no room for. */
export const TOO_LARGE = 'metadata.size';

/** What is said of a stored object that does not fit its schema: nothing is sent for it, nothing else stops. */
export function problemsVerdict(problems: readonly Problem[]): Verdict {
  const [first, ...more] = problems;
  if (first?.path === TOO_LARGE) return verdict('NotSupported', first.message);
  if (first?.path.startsWith('status.') === true) {
    const what = first.value === '' ? first.path : `${first.path} is ${first.value}, which`;
    return verdict(
      'NeedsUser',
      `${what} is not known to this version of the operator: run the version that wrote it, or a newer one`,
    );
  }
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return verdict(
    'NeedsUser',
    `The stored resource does not fit its schema: ${first?.message ?? 'unreadable'}${rest}`,
  );
}
