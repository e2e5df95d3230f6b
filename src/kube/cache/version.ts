/**
 * Compares two resourceVersions of one kind: negative, zero or positive as for a sort. Undefined when either
 * is not a decimal number, which no API server since Kubernetes 1.35 answers.
 *
 * Source: Kubernetes API concepts, "Resource versions": since 1.35 the resourceVersions of one resource type
 * can be compared as whole numbers of any length (KEP-5504, comparable resource version).
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Whether `a` is certainly older than `b`. */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const order = compareVersions(a, b);
  return order !== undefined && order < 0;
}

/** Without leading zeros, so that length and text decide. */
const DECIMAL = /^(0|[1-9][0-9]*)$/;
