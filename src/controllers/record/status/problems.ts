import type { Problem } from '../../../api/resource.ts';
import { verdict, type Verdict } from './verdict.ts';

/** What is said of a stored object that does not fit its schema: nothing is sent for it, nothing else stops. */
export function problemsVerdict(problems: readonly Problem[]): Verdict {
  const [first, ...more] = problems;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return verdict(
    'NeedsUser',
    `The stored resource does not fit its schema: ${first?.message ?? 'unreadable'}${rest}`,
  );
}
