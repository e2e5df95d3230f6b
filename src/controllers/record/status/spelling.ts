import { canonicalEndpoint } from '../../../service/index.ts';

interface Spelt {
  endpoint?: unknown;
}

/**
 * A stored object whose status has the endpoints of its records in their one spelling: what an earlier version wrote is
 * as the Connection spelt it then. All that does not fit stays as it is.
 */
export function withSpelling<T extends { status?: unknown }>(raw: T): T {
  const { home, former } = (raw.status ?? {}) as { home?: Spelt; former?: unknown };
  const at = spelt(home);
  const before: readonly Spelt[] = Array.isArray(former) ? former : [];
  const earlier = before.map((one) => spelt(one));
  if (at === home && before.every((one, i) => one === earlier[i])) return raw;
  const places = {
    ...(at === undefined ? {} : { home: at }),
    ...(before.length === 0 ? {} : { former: earlier }),
  };
  return { ...raw, status: { ...(raw.status as object), ...places } };
}

function spelt<T extends Spelt | undefined>(place: T): T {
  const endpoint = place?.endpoint;
  if (typeof endpoint !== 'string') return place;
  const canonical = canonicalEndpoint(endpoint);
  return canonical === endpoint ? place : { ...place, endpoint: canonical };
}
