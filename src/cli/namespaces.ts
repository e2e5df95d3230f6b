import { UsageError } from './exit-codes.ts';

/** RFC 1123, as the API server has it. */
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Refuses what no namespace can be called. @throws UsageError */
export function checkNamespace(flag: string, name: string): void {
  if (LABEL.test(name)) return;
  throw new UsageError(
    `${flag} ${JSON.stringify(name)}: a namespace has small letters, digits and dashes, at most 63 of them`,
  );
}
