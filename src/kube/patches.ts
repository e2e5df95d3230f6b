/** A JSON value or what JSON.stringify turns into one; `undefined` members count as absent. */
type Json = unknown;

/**
 * The JSON merge patch (RFC 7386) that turns `before` into `after`: undefined when they are the same, `null`
 * for members that go, lists as a whole. A `null` inside `after` cannot be said in a merge patch and is
 * treated as absent, as the API server does.
 */
export function mergePatchOf(before: object, after: object): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = member(before, key);
    const next = member(after, key);
    if (next === undefined) {
      if (old !== undefined) put(patch, key, null);
    } else if (isRecord(old) && isRecord(next)) {
      const inner = mergePatchOf(old, next);
      if (inner !== undefined) put(patch, key, inner);
    } else if (!sameJson(old, next)) {
      put(patch, key, isRecord(next) ? withoutAbsent(next) : next);
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/**
 * The patch for the status subresource, or undefined when `next` means the same as `old`: nothing changes,
 * nothing is written.
 */
export function statusPatch(
  old: object | undefined,
  next: object,
): { status: Record<string, unknown> } | undefined {
  const patch = mergePatchOf(old ?? {}, next);
  return patch === undefined ? undefined : { status: patch };
}

/** Whether two values are the same JSON: the order of members does not matter, absent and undefined are one. */
export function sameJson(a: Json, b: Json): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i]))
    );
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    sameJson(own(a, key), own(b, key)),
  );
}

function withoutAbsent(value: object): Record<string, unknown> {
  return mergePatchOf({}, value) ?? {};
}

/** A member where `null` and undefined both mean absent. */
function member(object: object, key: string): unknown {
  return own(object, key) ?? undefined;
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Plain assignment would run the `__proto__` setter. */
function put(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function isRecord(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
